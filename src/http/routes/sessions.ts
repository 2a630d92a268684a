import { z } from 'zod';
import { AuthorityError } from '../../errors/index.ts';
import type { Sessions } from '../../service.ts';
import type { SessionRow } from '../../sessions/session-table.ts';
import { defineRoute, type Route } from '../define-route.ts';
import { okField, pathField, selectorField, sessionIdField } from '../fields.ts';
import { invalidField } from '../gates/shape.ts';
import type { RouteContext } from '../route-context.ts';

const rowSchema = z.strictObject({
  id: z.string(),
  workspace: z.string().meta({ description: 'The selector that it was created through, canonical.' }),
  header: z
    .string()
    .meta({ description: 'The directory it was created in; it counts until the session ends.' }),
  current: z.string().meta({ description: 'The directory it works in.' }),
  moving: z.array(z.string()).meta({ description: 'Directories it is on its way to; they count, too.' }),
  ends: z.enum(['closed', 'process', 'lease']).meta({ description: 'What ends it besides closing it.' }),
  leaseSeconds: z.number().nullable(),
  renewedAt: z.string().nullable().meta({ description: 'When its lease began.' }),
  createdAt: z.string(),
});

const oneSchema = z.strictObject({ ok: okField, session: rowSchema });

export const sessionsGetRoute: Route = defineRoute({
  method: 'GET',
  path: '/sessions',
  summary: 'The sessions that have not ended.',
  answers: {
    200: { description: 'All of them.', schema: z.strictObject({ ok: okField, items: z.array(rowSchema) }) },
  },
  run: async (context) => {
    const rows = await sessionsOf(context).list();
    return { status: 200, body: { ok: true, items: rows.map(presentRow) } };
  },
});

export const sessionsPostRoute: Route = defineRoute({
  method: 'POST',
  path: '/sessions',
  summary: 'Tell that somebody works in a directory, which then is neither archived nor cleaned up.',
  body: z.strictObject({
    cwd: selectorField,
    path: pathField.optional(),
    id: sessionIdField.optional(),
    leaseSeconds: z
      .int()
      .min(5)
      .max(86_400)
      .meta({ description: 'It ends when it was not renewed for so long.' })
      .optional(),
    process: z
      .strictObject({
        pid: z.int().min(1).max(4_194_304),
        startTime: z
          .string()
          .regex(/^\d{1,20}$/)
          .meta({ description: 'Field 22 of /proc/<pid>/stat.' }),
      })
      .meta({ description: 'It ends with this process of the machine of the server.' })
      .optional(),
  }),
  answers: { 201: { description: 'The session occupies the directory.', schema: oneSchema } },
  run: async (context, _query, body) => {
    const { cwd, path, id, leaseSeconds, process } = body;
    const request = {
      cwd,
      ...(path === undefined ? {} : { path }),
      ...(id === undefined ? {} : { id }),
      ...(leaseSeconds === undefined ? {} : { leaseSeconds }),
      ...(process === undefined ? {} : { process }),
    };
    const row = await sessionsOf(context).create(request, context.exchange.signal);
    return { status: 201, body: { ok: true, session: presentRow(row) } };
  },
});

export const sessionsPatchRoute: Route = defineRoute({
  method: 'PATCH',
  path: '/sessions',
  summary: 'Move a session to another directory; in any case, renew it.',
  body: z.strictObject({ id: sessionIdField, cwd: selectorField.optional(), path: pathField.optional() }),
  answers: { 200: { description: 'The session as it is now.', schema: oneSchema } },
  run: async (context, _query, { id, cwd, path }) => {
    const { signal } = context.exchange;
    const sessions = sessionsOf(context);
    if (cwd === undefined && path !== undefined) throw invalidField('cwd', 'missing');
    const row =
      cwd === undefined
        ? await sessions.renew(id, signal)
        : await sessions.move(id, { cwd, ...(path === undefined ? {} : { path }) }, signal);
    return { status: 200, body: { ok: true, session: presentRow(row) } };
  },
});

export const sessionsDeleteRoute: Route = defineRoute({
  method: 'DELETE',
  path: '/sessions',
  summary: 'Close a session; nothing else is touched.',
  body: z.strictObject({ id: sessionIdField }),
  answers: { 200: { description: 'The session as it was.', schema: oneSchema } },
  run: async (context, _query, body) => {
    const row = await sessionsOf(context).close(body.id, context.exchange.signal);
    return { status: 200, body: { ok: true, session: presentRow(row) } };
  },
});

/** @throws `not_offered` where the host knows the sessions */
function sessionsOf({ service }: RouteContext): Sessions {
  if (service.sessions === null) throw new AuthorityError('not_offered');
  return service.sessions;
}

function presentRow({ id, workspace, header, current, moving, life, createdAt }: SessionRow): object {
  return {
    id,
    workspace,
    header,
    current,
    moving: moving.map(({ path }) => path),
    ends: life.ends,
    leaseSeconds: life.ends === 'lease' ? life.seconds : null,
    renewedAt: life.ends === 'lease' ? new Date(life.renewed.wallMs).toISOString() : null,
    createdAt,
  };
}
