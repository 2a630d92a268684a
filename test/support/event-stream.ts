import { once } from 'node:events';
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { type RunningServer, testToken } from './http-server.ts';

/** One block of a stream of Server-Sent Events. */
export interface StreamBlock {
  readonly event: string | null;
  readonly id: string | null;
  readonly data: unknown;
  readonly comments: readonly string[];
  readonly retry: string | null;
}

/** A client of `/events` that reads as it is asked to. */
export interface EventStream {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  /** Null at the end of the stream. */
  next(): Promise<StreamBlock | null>;
  until(fits: (block: StreamBlock) => boolean): Promise<StreamBlock>;
  /** Reads on to the end of the stream or of the connection. */
  ended(): Promise<void>;
  leave(): void;
}

export async function openEvents(
  { port }: Pick<RunningServer, 'port'>,
  selectors: readonly string[] | null,
  headers: Readonly<Record<string, string>> = {},
  query = '',
): Promise<EventStream> {
  const cwds = selectors === null ? '' : `cwds=${encodeURIComponent(JSON.stringify(selectors))}`;
  const outgoing: ClientRequest = httpRequest({
    port,
    host: '127.0.0.1',
    path: `/api/events?${cwds}${query}`.replace(/\?$/, ''),
    headers: { authorization: `Bearer ${testToken}`, ...headers },
    agent: false,
  });
  outgoing.on('error', () => undefined);
  outgoing.end();
  const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage];
  incoming.setEncoding('utf8');
  incoming.on('error', () => undefined);
  const chunks = incoming[Symbol.asyncIterator]();
  let text = '';
  const next = async (): Promise<StreamBlock | null> => {
    for (;;) {
      const end = text.indexOf('\n\n');
      if (end >= 0) {
        const block = parse(text.slice(0, end));
        text = text.slice(end + 2);
        return block;
      }
      const { done, value } = await chunks.next().catch(() => ({ done: true, value: undefined }));
      if (done) return null;
      text += value;
    }
  };
  return {
    status: incoming.statusCode ?? 0,
    headers: incoming.headers,
    next,
    async until(fits) {
      for (;;) {
        const block = await next();
        if (block === null) throw new Error('the stream ended');
        if (fits(block)) return block;
      }
    },
    async ended() {
      while ((await next()) !== null);
    },
    leave: () => outgoing.destroy(),
  };
}

function parse(text: string): StreamBlock {
  const fields = text.split('\n').map((line) => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon), line.slice(colon + 1).replace(/^ /, '')] as const;
  });
  const field = (name: string) => fields.find(([found]) => found === name)?.[1] ?? null;
  const data = field('data');
  return {
    event: field('event'),
    id: field('id'),
    retry: field('retry'),
    data: data === null ? null : JSON.parse(data),
    comments: fields.filter(([found]) => found === '').map(([, comment]) => comment),
  };
}
