import { AuthorityError } from '../errors/index.ts';
import type { Confinement } from './confinement.ts';
import { isReservedName } from './transaction-name.ts';

/** Paths that were found open, by the rules they were judged under: a name is closed by itself alone, so the answer never changes. */
const openPaths = new WeakMap<Confinement, Set<string>>();
/** Enough for what one client reads again and again; at 4,095 bytes a path at most some megabytes. */
const capacity = 2048;

/**
 * Refuses a path with a component that is closed by its name (R12) or reserved for running transactions. Undecodable names come here
 * decoded with replacement characters: every closed name is ASCII apart from ignorable code points, so none is lost by that.
 * @throws `administrative_path`
 */
export function assertOpenNames(path: string, confinement: Confinement): void {
  const known = knownOpen(confinement);
  if (known.has(path)) return;
  for (const component of path.split('/')) {
    if (isClosed(component, confinement)) throw new AuthorityError('administrative_path');
  }
  if (known.size >= capacity) known.clear();
  known.add(path);
}

function knownOpen(confinement: Confinement): Set<string> {
  let known = openPaths.get(confinement);
  if (known === undefined) {
    known = new Set();
    openPaths.set(confinement, known);
  }
  return known;
}

/** Whether a directory entry is left out of listings and walks by its name. */
export function isClosed(component: string, confinement: Confinement): boolean {
  return confinement.isClosedName(component) || isReservedName(component);
}
