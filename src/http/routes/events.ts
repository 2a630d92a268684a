import { z } from 'zod';
import { AuthorityError } from '../../errors/index.ts';
import type { FeedEvent } from '../../events/feed-event.ts';
import type { Snapshot } from '../../snapshot/snapshot.ts';
import { defineRoute, type Route } from '../define-route.ts';
import type { Exchange } from '../exchange.ts';
import { selectorField } from '../fields.ts';
import { invalidField } from '../gates/shape.ts';
import { describeProblem } from '../problem.ts';
import { securityHeaders } from '../security-headers.ts';
import { untilWritable } from '../until-writable.ts';

/** Milliseconds after which a browser comes again. */
const retryMs = 5000;

const listSchema = z.array(selectorField).min(1);

export const eventsRoute: Route = defineRoute({
  method: 'GET',
  path: '/events',
  summary: 'Server-Sent Events: the snapshots of workspaces, whenever they change.',
  query: z.strictObject({
    cwds: z.string().optional().meta({
      description:
        'Selectors as a JSON array, at most 200. Without it: those that the caller asks about by /snapshot, /snapshots and /actions.',
    }),
    partial: z
      .enum(['0', '1'])
      .optional()
      .meta({ description: '1: a selector that fails gets an event; else the first one fails the request.' }),
  }),
  requestHeaders: ['Last-Event-ID'],
  answers: {
    200: {
      description:
        'Events `snapshot` (a snapshot, as of /snapshot), `rescan` ({cwds, reason}: ask anew), `progress` ({cwd, task, txId, path, filesDone, filesTotal}: how far a worktree is that was asked for there; never told again), and `refused` (a Problem with cwd: no more about it).',
      mediaType: 'text/event-stream',
    },
  },
  run: async ({ service, exchange, limits, caller, stopSignal, stillCalls }, query) => {
    if (caller === null) throw new AuthorityError('authentication_required');
    const lastEventId = exchange.request.headers['last-event-id'];
    const subscription = await service.events.subscribe(
      {
        subject: caller.subject,
        selectors: query.cwds === undefined ? null : parseSelectors(query.cwds),
        partial: query.partial === '1',
        lastEventId: typeof lastEventId === 'string' ? lastEventId : undefined,
      },
      AbortSignal.any([exchange.signal, stopSignal]),
    );
    const { response } = exchange;
    // A reader that lets events pile up loses the connection also while it is waited for.
    const broken = AbortSignal.any([exchange.signal, subscription.ended]);
    response.writeHead(200, [...eventHeaders, 'X-Request-Id', exchange.requestId]);
    response.write(`retry: ${retryMs}\n:connected\n\n`);
    for await (const event of subscription) {
      if (response.destroyed) break;
      if (!(await stillCalls())) {
        response.write(refusal(exchange, null, new AuthorityError('authentication_required')));
        break;
      }
      if (!response.write(textOf(exchange, event))) {
        await untilWritable(exchange, limits.stallTimeoutMs, broken);
      }
    }
    response.end();
    return null;
  },
});

/** Neither a cache nor a proxy may hold events back. */
const eventHeaders: readonly string[] = [
  ...securityHeaders,
  'Cache-Control',
  'no-store, no-transform',
  'Content-Type',
  'text/event-stream; charset=utf-8',
  'X-Accel-Buffering',
  'no',
];

/** @throws `invalid_request` (details.field) */
function parseSelectors(text: string): readonly string[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw invalidField('cwds', 'invalid');
  }
  const result = listSchema.safeParse(value);
  if (!result.success) throw invalidField('cwds', 'invalid');
  return result.data;
}

/** JSON has no raw newline, so that each event has one line of data. An id without data only moves `Last-Event-ID` (HTML, 9.2.6). */
function textOf(exchange: Exchange, event: FeedEvent<Snapshot>): string {
  if (event.kind === 'pulse') return `:hb\nid: ${event.id}\n\n`;
  if (event.kind === 'change') return `id: ${event.id}\nevent: snapshot\ndata: ${event.text}\n\n`;
  if (event.kind === 'progress') {
    const data = JSON.stringify({ cwd: event.selector, ...event.progress });
    return `event: progress\ndata: ${data}\n\n`;
  }
  if (event.kind === 'refused') return refusal(exchange, event.selector, event.error);
  const { id, selectors, reason } = event;
  const data = JSON.stringify({ cwds: selectors, reason });
  return `${id === null ? '' : `id: ${id}\n`}event: rescan\ndata: ${data}\n\n`;
}

function refusal({ requestId }: Exchange, cwd: string | null, error: AuthorityError): string {
  const problem = describeProblem(error, { requestId, root: null });
  return `event: refused\ndata: ${JSON.stringify({ cwd, ...problem })}\n\n`;
}
