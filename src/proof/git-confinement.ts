import type { Confinement } from '../capability/confinement.ts';
import { isAdministrativeName } from '../git/administrative-name.ts';
import { gitDirectoryShape } from '../git/git-directory-shape.ts';
import type { ObjectNumber } from './prover.ts';

/** What is closed below a workspace root because of Git (R12), and the directories closed by identity wherever they are found. */
export function gitConfinement(closedIdentities: readonly ObjectNumber[]): Confinement {
  return { isClosedName: isAdministrativeName, closedShape: gitDirectoryShape, closedIdentities };
}
