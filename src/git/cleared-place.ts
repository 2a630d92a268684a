import type { PinnedPlace } from './pinned-place.ts';

/**
 * What a command does that a repository's configuration could abuse.
 *
 * - `facts`: reads refs, objects and names; content passes through no driver
 * - `work-tree`: compares or converts files of the work tree, so `filter.*` could run
 * - `merge`: merges contents, so `merge.*` could run as well
 * - `network`: speaks to another machine
 */
export type CommandUse = 'facts' | 'work-tree' | 'merge' | 'network';

declare const cleared: unique symbol;

/** A pinned place whose configuration the gate has let through for one use. Made only by the configuration gate. */
export interface ClearedPlace<Use extends CommandUse> extends PinnedPlace {
  readonly [cleared]: Use;
  /** Pins the programs that the operator allows, `key=value` each. */
  readonly settings: readonly string[];
}
