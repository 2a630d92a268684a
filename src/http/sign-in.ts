import type { IncomingMessage } from 'node:http';

/** Turns the one-time code of a URL into a session for a browser. */
export interface SignIn {
  /** Value of `Set-Cookie`, or null for a code that is unknown, expired or already used. */
  redeem(code: string, request: IncomingMessage): string | null | Promise<string | null>;
  /** Path the browser is sent to; default is the list of workspaces. */
  readonly landing?: string;
}
