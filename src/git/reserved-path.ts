import { isReservedName } from '../capability/transaction-name.ts';

/**
 * Whether a path, in Latin-1, ends in a name of our own file transactions. What a server that died in mid-save has left is the business of
 * recovery: it is nobody's untracked file, and it is never staged (W11).
 */
export function isReservedPath(latin1Path: string): boolean {
  return isReservedName(latin1Path.slice(latin1Path.lastIndexOf('/') + 1));
}
