import { z } from 'zod';
import type { Readiness, Service } from '../../service.ts';
import { defineRoute, type Route } from '../define-route.ts';

/** A probe without credentials must not be able to make the service examine itself more often than this. */
const readinessAgeMs = 1_000;

export const healthzRoute: Route = defineRoute({
  method: 'GET',
  path: '/healthz',
  access: 'anyone',
  originChecked: false,
  whileStopping: true,
  answersHead: true,
  summary: 'Whether the process answers.',
  answers: { 200: { description: 'It does.', schema: z.strictObject({ status: z.literal('alive') }) } },
  run: () => ({ status: 200, body: { status: 'alive' } }),
});

/** Operators get the whole report as it is now, everybody else only the status of a moment ago. */
export const readyzRoute: Route = defineRoute({
  method: 'GET',
  path: '/readyz',
  access: 'anyone',
  originChecked: false,
  whileStopping: true,
  answersHead: true,
  summary: 'Whether the service can work, and for operators what it stands on.',
  answers: {
    200: {
      description: 'Ready.',
      schema: z.looseObject({ status: z.literal('ready') }),
    },
    503: {
      description: 'Not ready.',
      schema: z.looseObject({ status: z.enum(['unavailable', 'stopping']) }),
    },
  },
  run: async (context) => {
    if (context.stopping) return { status: 503, body: { status: 'stopping' } };
    const caller = await context.identify();
    const isOperator = caller?.operator === true;
    const readiness = await (isOperator ? context.service.readiness() : recentReadiness(context.service));
    const word = { status: readiness.ready ? 'ready' : 'unavailable' };
    return {
      status: readiness.ready ? 200 : 503,
      body: isOperator ? { ok: readiness.ready, ...word, ...readiness } : word,
    };
  },
});

interface Recent {
  readonly askedAt: number;
  readonly answer: Promise<Readiness>;
}

const recent = new WeakMap<Service, Recent>();

function recentReadiness(service: Service): Promise<Readiness> {
  const now = performance.now();
  const last = recent.get(service);
  if (last !== undefined && now - last.askedAt < readinessAgeMs) return last.answer;
  const answer = service.readiness();
  recent.set(service, { askedAt: now, answer });
  return answer;
}
