import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningServer, startServer, type TestRequest } from '../support/http-server.ts';
import { memoryService } from '../support/memory-service.ts';

/**
 * Faults in the order of the gates that refuse them. A request that has two must get the answer of the earlier one, so each pair of
 * neighbours, and of any two further apart, is sent.
 */
interface Fault {
  readonly gate: string;
  readonly status: number;
  readonly code: string;
  readonly method?: string;
  readonly path?: string;
  readonly headers?: TestRequest['headers'];
  readonly rawBody?: string;
}

const faults: readonly Fault[] = [
  { gate: 'host', status: 403, code: 'host_not_allowed', headers: { host: 'rebound.example' } },
  { gate: 'route', status: 404, code: 'route_unknown', path: '/nowhere' },
  { gate: 'method', status: 405, code: 'method_not_allowed', method: 'PATCH' },
  { gate: 'media type', status: 415, code: 'json_required', headers: { 'content-type': 'text/plain' } },
  { gate: 'origin', status: 403, code: 'same_origin_required', headers: { origin: 'https://evil.example' } },
  { gate: 'authentication', status: 401, code: 'authentication_required', headers: { authorization: null } },
  { gate: 'body size', status: 413, code: 'body_too_large', rawBody: `{"cwd":"${'x'.repeat(2048)}"}` },
  { gate: 'JSON', status: 400, code: 'malformed_json', rawBody: '{' },
  { gate: 'object', status: 400, code: 'json_object_required', rawBody: '[]' },
  { gate: 'shape', status: 400, code: 'invalid_request', rawBody: '{"cwd":"/nowhere","unknown":1}' },
];

/** Everything right but the selector, which is the last gate. */
const plain = { method: 'POST', path: '/mkdir', rawBody: '{"cwd":"/nowhere","path":"d"}' };

const combined: readonly { title: string; first: Fault; second: Fault }[] = faults.flatMap((first, index) =>
  faults
    .slice(index + 1)
    // Two faults of one body cannot both be there.
    .filter((second) => (['rawBody', 'path'] as const).every((part) => !(part in first && part in second)))
    .map((second) => ({ title: `${first.gate} before ${second.gate}`, first, second })),
);

describe('the gates stand in the order of the API', () => {
  let running: RunningServer;
  beforeAll(async () => {
    const limits = { bodyBytes: 1024, failedAuthentications: 10_000 };
    running = await startServer(memoryService(new Map()), { limits });
  });
  afterAll(() => running[Symbol.asyncDispose]());

  const ask = (...given: readonly Partial<Fault>[]) =>
    running.send({
      ...plain,
      ...Object.assign({}, ...given.toReversed()),
      headers: Object.assign({}, ...given.map((fault) => fault.headers ?? {})),
    });

  it.each(faults)('R40: $gate alone is refused with $status $code', async (fault) => {
    const answer = await ask(fault);
    expect([answer.status, answer.body?.['code']]).toEqual([fault.status, fault.code]);
  });

  it.each(combined)('R40: $title', async ({ first, second }) => {
    const answer = await ask(first, second);
    expect([answer.status, answer.body?.['code']]).toEqual([first.status, first.code]);
  });

  it('R02: the selector is the last gate', async () => {
    const answer = await ask({});
    expect([answer.status, answer.body?.['code']]).toEqual([403, 'workspace_not_authorized']);
  });
});
