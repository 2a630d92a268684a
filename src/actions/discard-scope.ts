import { type BeneathPath, parseBeneathPath } from '../capability/beneath-path.ts';
import { assertOpenNames } from '../capability/closed-names.ts';
import type { RepositoryCapability } from '../capability/repository-capability.ts';
import { AuthorityError, isAuthorityError } from '../errors/index.ts';
import type { ChangedRecord } from '../git/changed-records.ts';
import { actionRefused } from './action-refusal.ts';
import type { DiscardRequest } from './discard-contract.ts';

/** Which of the changes of a checkout are meant. */
export interface DiscardScope {
  readonly ignored: boolean;
  readonly includes: (record: ChangedRecord) => boolean;
  /** Latin-1. */
  readonly includesPath: (path: string) => boolean;
  /** The same for the same scope, however it was written. */
  readonly key: string;
}

/** What was asked for, before it is known of which checkout. @throws `discard_paths_empty` | `action_refused` (`actions.discard.unsafePath`) */
export function parseScope({ paths, ignored = false }: DiscardRequest): DiscardScope {
  if (paths === undefined) {
    return { ignored, includes: () => true, includesPath: () => true, key: JSON.stringify([ignored]) };
  }
  if (paths.length === 0) throw new AuthorityError('discard_paths_empty');
  const wanted = [...new Set(paths.map(parsePath))].sort();
  // As Git writes them.
  const names = new Set(wanted.map((path) => Buffer.from(path).toString('latin1')));
  const includesPath = (path: string): boolean => isWithin(path, names);
  const key = JSON.stringify([ignored, wanted]);
  return { ignored, includes: ({ path }) => includesPath(path), includesPath, key };
}

/** @throws `action_refused` (`actions.discard.unsafePath`): a path leads into the administration of a repository */
export function assertOpenScope({ paths = [] }: DiscardRequest, { held }: RepositoryCapability): void {
  for (const path of paths) orUnsafe(() => assertOpenNames(path, held.confinement));
}

function parsePath(text: string): BeneathPath {
  return orUnsafe(() => parseBeneathPath(text));
}

function orUnsafe<Result>(check: () => Result): Result {
  try {
    return check();
  } catch (cause) {
    if (!isAuthorityError(cause)) throw cause;
    throw actionRefused('actions.discard.unsafePath', { reason: cause.code });
  }
}

function isWithin(path: string, names: ReadonlySet<string>): boolean {
  const plain = path.endsWith('/') ? path.slice(0, -1) : path;
  if (names.has(plain)) return true;
  for (let slash = plain.indexOf('/'); slash !== -1; slash = plain.indexOf('/', slash + 1)) {
    if (names.has(plain.slice(0, slash))) return true;
  }
  return false;
}
