import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Caller } from './caller.ts';
import { connectionSignal } from './connection-signal.ts';
import { nextRequestId } from './request-id.ts';

/** One request with its answer, and what the gates have found out about it so far. */
export class Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
  /** Under which path the router is mounted, e.g. `/api`. */
  readonly base: string;
  /** Path below the mount, exactly as sent: nothing is decoded, so an encoded spelling of a route is another path. */
  readonly path: string;
  /** Text after the first `?`, still encoded. */
  readonly queryText: string;
  caller: Caller | null = null;
  /** Canonical root of the workspace this request was authorised for. */
  root: string | null = null;
  /** Path below that root which the request acts on. */
  target: string | null = null;
  /** Whether the request body has been read to its end. */
  bodyRead = false;
  #repeats: boolean | null = null;

  constructor(request: IncomingMessage, response: ServerResponse, base: string, target: string) {
    this.request = request;
    this.response = response;
    this.requestId = nextRequestId();
    this.base = base;
    const mark = target.indexOf('?');
    this.path = mark === -1 ? target : target.slice(0, mark);
    this.queryText = mark === -1 ? '' : target.slice(mark + 1);
  }

  get signal(): AbortSignal {
    return connectionSignal(this.request);
  }

  /**
   * Whether the header was sent on more than one line. Node keeps the first or joins them, depending on the name; what decides
   * about access must not depend on that.
   */
  repeats(name: string): boolean {
    const { rawHeaders, headers } = this.request;
    this.#repeats ??= rawHeaders.length !== Object.keys(headers).length * 2;
    if (!this.#repeats) return false;
    let seen = 0;
    for (let index = 0; index < rawHeaders.length; index += 2) {
      if (rawHeaders[index]?.toLowerCase() === name) seen += 1;
    }
    return seen > 1;
  }

  /** GET and HEAD change nothing. */
  get isSafe(): boolean {
    return this.request.method === 'GET' || this.request.method === 'HEAD';
  }
}
