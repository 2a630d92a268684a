import { toStoredIdentity } from '../capability/identity.ts';
import type { RepositoryCapability } from '../capability/repository-capability.ts';
import { assertOwnAdministration } from '../git/own-administration.ts';
import type { GateKey } from '../mutation/mutation-gate.ts';
import type { ActionContext } from './action-context.ts';

/** The right to change one repository, while no other checkout of it is changed by us. */
export interface FamilyTurn {
  readonly capability: RepositoryCapability;
  /** To be called before each step that cannot be taken back. @throws as `FileCapability.assertCurrent` */
  assertCurrent(): Promise<void>;
}

/**
 * Authorises, waits for the turn of the repository, proves again that the registry and the names still say the same, and only then runs the
 * task (R20, R22). The capability is held all the while. The signal ends the wait, never a task that has started.
 * @throws as `Authority.authorizeRepository`, `MutationGate.run`, `FileCapability.assertCurrent`, `assertOwnAdministration`, and what the task throws
 */
export async function inFamily<Result>(
  { authority, gate }: ActionContext,
  selector: string,
  task: (turn: FamilyTurn) => Promise<Result>,
  signal?: AbortSignal,
): Promise<Result> {
  await using capability = await authority.authorizeRepository(selector, signal);
  const assertCurrent = () => capability.assertCurrent();
  return await gate.run(
    [familyKey(capability)],
    async () => {
      await capability.assertCurrent(signal);
      await assertOwnAdministration(capability);
      return task({ capability, assertCurrent });
    },
    signal === undefined ? {} : { signal },
  );
}

/**
 * All checkouts of a repository share its common directory, which the proof has tied to the main checkout. By identity, so that every
 * process and every mount of it comes to the same key (W36).
 */
export function familyKey({ repository }: RepositoryCapability): GateKey {
  const { fileSystemId, inode } = toStoredIdentity(repository.commonDirectory.identity());
  return `family:${fileSystemId}:${inode}`;
}
