import { AuthorityError, isAuthorityError } from '../errors/index.ts';
import type { WorkspaceRegistry, WorkspaceRow } from '../registry/workspace-registry.ts';

/**
 * Asks the registry for a row as it is now. Whatever else it throws or answers is `registry_unavailable`, never "no such row" (R04).
 * Synchronous when the registry is.
 */
export function findRow(
  registry: WorkspaceRegistry,
  path: string,
): WorkspaceRow | null | Promise<WorkspaceRow | null> {
  try {
    const answer = registry.find(path);
    if (!(answer instanceof Promise)) return checked(answer, path);
    return answer.then((row) => checked(row, path)).catch(fail);
  } catch (error) {
    return fail(error);
  }
}

/** Whether nothing in the row changed that a proof rests on. */
export function sameRow(left: WorkspaceRow, right: WorkspaceRow): boolean {
  if (left === right) return true;
  return (
    left.id === right.id &&
    left.path === right.path &&
    left.allowMounts === right.allowMounts &&
    JSON.stringify([left.identity, left.gitDirIdentity]) ===
      JSON.stringify([right.identity, right.gitDirIdentity])
  );
}

function checked(row: WorkspaceRow | null, path: string): WorkspaceRow | null {
  if (row !== null && row?.path !== path) {
    throw new AuthorityError('registry_unavailable', { details: { reason: 'answered with another row' } });
  }
  return row;
}

function fail(error: unknown): never {
  if (isAuthorityError(error) && error.code === 'registry_unavailable') throw error;
  throw new AuthorityError('registry_unavailable', { cause: error });
}
