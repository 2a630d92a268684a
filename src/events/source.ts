import type { AuthorityError } from '../errors/index.ts';
import type { RescanReason } from './feed-event.ts';

/** Where changes come from. */
export interface EventSource<Value> {
  /** Whether each may be followed in this moment: null, or why not. @throws `aborted` | `shutting_down` */
  prove(selectors: readonly string[], signal?: AbortSignal): Promise<readonly (AuthorityError | null)[]>;
  /** Tells of the state first, then of each change, until it is closed or has refused. One look for all that follow. */
  follow(selector: string, listener: SourceListener<Value>): Following;
}

export interface SourceListener<Value> {
  onChange(value: Value): void;
  onUnsure(reason: RescanReason): void;
  /** The last that is told. */
  onRefused(error: AuthorityError): void;
}

export interface Following {
  close(): void;
}
