import type { IncomingMessage } from 'node:http';

/** Who sends a request. It never says where the request may act: that is the authority's answer to the selector (R01). */
export interface Caller {
  /** Stable name of the caller, for logs and the limit on parallel requests. Never a secret. */
  readonly subject: string;
  /** Operators may also read `/explain` and the full `/readyz` and change the registry. */
  readonly operator: boolean;
}

/**
 * The embedder's outer authentication. Null means: no valid credentials. A throw is a failure of the dependency and refuses the
 * request; it is never taken for an answer.
 */
export type Authenticate = (request: IncomingMessage) => Caller | null | Promise<Caller | null>;
