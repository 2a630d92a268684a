import { AuthorityError } from '../errors/index.ts';
import type { Confinement } from './confinement.ts';
import { isReservedName } from './transaction-name.ts';

/**
 * Refuses a path with a component that is closed by its name (R12) or reserved for running transactions. Undecodable names come here
 * decoded with replacement characters: every closed name is ASCII apart from ignorable code points, so none is lost by that.
 * @throws `administrative_path`
 */
export function assertOpenNames(path: string, confinement: Confinement): void {
  let start = 0;
  while (start <= path.length) {
    const slash = path.indexOf('/', start);
    const end = slash === -1 ? path.length : slash;
    const component = path.slice(start, end);
    if (isClosed(component, confinement)) throw new AuthorityError('administrative_path');
    start = end + 1;
  }
}

/** Whether a directory entry is left out of listings and walks by its name. */
export function isClosed(component: string, confinement: Confinement): boolean {
  return confinement.isClosedName(component) || isReservedName(component);
}
