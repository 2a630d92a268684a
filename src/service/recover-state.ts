import { sameLiveIdentity } from '../capability/identity.ts';
import { openHeldRoot } from '../capability/open-held-root.ts';
import type { StateDirectory } from '../capability/state-directory.ts';
import { Transactions } from '../capability/transaction-name.ts';
import { AuthorityError } from '../errors/index.ts';
import { recoverDirectory } from '../files/recover-directory.ts';
import type { RecoveredFile } from '../files/workspace-files.ts';
import type { MutationGate } from '../mutation/mutation-gate.ts';
import type { NativeBinding } from '../native/binding.ts';

/** A state file is replaced in milliseconds: what is not to be had in this time stays for the next start. */
const longestWaitMs = 2_000;
const nothingClosed = { isClosedName: () => false, closedShape: [], closedIdentities: [] };

/**
 * Finishes or undoes what a dead process left of its changes to state files. What another program put there is kept.
 * @throws `state_unavailable` | errno of the native calls
 */
export async function recoverState(
  binding: NativeBinding,
  state: StateDirectory,
  gate: MutationGate,
  options: { readonly dryRun: boolean },
): Promise<readonly RecoveredFile[]> {
  const held = await openHeldRoot(binding, state.path, { confinement: nothingClosed, allowMounts: false });
  try {
    const assertCurrent = async (): Promise<void> => {
      const inPlace = sameLiveIdentity(held.identity, state.identity) && (await held.isInPlace());
      if (inPlace) return;
      throw new AuthorityError('state_unavailable', { details: { file: '.', reason: 'was moved away' } });
    };
    await assertCurrent();
    const context = { gate, transactions: new Transactions(), now: Date.now };
    const inDirectory = { dryRun: options.dryRun, waitMs: longestWaitMs };
    const { actions } = await recoverDirectory(context, { held, assertCurrent }, '.', inDirectory);
    return actions;
  } finally {
    held.release();
  }
}
