import { randomUUID } from 'node:crypto';
import { familyKey } from '../actions/in-family.ts';
import type { RepositoryCapability } from '../capability/repository-capability.ts';
import { AuthorityError, isAuthorityError } from '../errors/index.ts';
import type { GitProgress } from '../git/progress-lines.ts';
import type { ManagedRoot } from '../proof/managed-namespace.ts';
import { unsupported } from '../proof/unsupported.ts';
import { type Beginning, beginCreation } from './begin-creation.ts';
import { completeCreation } from './complete-creation.ts';
import type { CreateContext } from './create-context.ts';
import {
  type CreateWorktreeRequest,
  fingerprintOf,
  type ParsedRequest,
  parseCreateRequest,
} from './create-request.ts';
import { findCreation } from './find-creation.ts';
import { journalName } from './journal.ts';
import { type ManagedHome, openHome } from './managed-home.ts';
import { holdPull } from './pull-head.ts';
import type { CreationResult } from './receipts.ts';
import { recoverCreations } from './recover-creations.ts';
import { claimSource, releaseSource } from './source-claims.ts';

/** What a caller gets. */
export interface CreatedWorktree extends CreationResult {
  /** Whether it is the answer to an earlier request of the same transaction. */
  readonly replayed: boolean;
  /** What an earlier creation left in this repository and could not be tidied up; it does not concern this one. */
  readonly warnings: readonly { readonly stage: string; readonly message: string }[];
}

interface Asked extends Pick<Beginning, 'request' | 'pull'> {
  readonly selector: string;
}

/** A remote that does not answer must not keep anybody from working. */
const fetchLimitMs = 4000;

/**
 * Makes a worktree of the selected repository, on a branch of its own, below the managed root, and registers it (R25). One transaction under
 * the turn of the family: whatever dies in between, the next service that starts, or the next creation here, finishes it or takes it back.
 * @throws as `Worktrees.create`
 */
export async function createWorktree(
  context: CreateContext,
  selector: string,
  request: CreateWorktreeRequest,
  signal?: AbortSignal,
): Promise<CreatedWorktree> {
  const { authority, gate } = context;
  await using capability = await authority.authorizeRepository(selector, signal);
  const parsed = parseCreateRequest(request);
  const fingerprint = fingerprintOf(capability.root, request);
  return await withTransactionState(parsed, async () => {
    if (parsed.transaction !== null)
      await context.assertSource(parsed.transaction.sourceSessionId, capability.root, signal);
    const root = rootOf(context);
    // Its worktrees would have no authority either.
    await using main = await authority.authorizeRepository(capability.repository.mainRoot, signal);
    await assertPlainLayout(main);
    const inTurn = <Result>(task: (home: ManagedHome) => Promise<Result>): Promise<Result> =>
      gate.run(
        [familyKey(main)],
        async () => {
          await capability.assertCurrent(signal);
          await main.assertCurrent(signal);
          using home = await openHome(context.native, root, main);
          return await task(home);
        },
        signal === undefined ? {} : { signal },
      );
    const { pull, transaction } = parsed;
    if (pull !== null && transaction !== null) {
      // Whatever has become of the pull request since, what was made of it is said again.
      const known = await inTurn(async (home) => {
        await recoverCreations(context, main, home);
        return findCreation(context, home, transaction.txId, fingerprint);
      });
      if (known !== null) return { ...known, replayed: true, warnings: [] };
    }
    await fetchBriefly(context, capability, signal);
    await using held = pull === null ? null : await holdPull(context, capability, pull, signal);
    const asked = { selector, request: parsed, pull: held?.pull ?? null };
    return await inTurn((home) => inHome(context, main, home, asked, fingerprint, signal));
  });
}

async function inHome(
  context: CreateContext,
  main: RepositoryCapability,
  home: ManagedHome,
  asked: Asked,
  fingerprint: string,
  signal?: AbortSignal,
): Promise<CreatedWorktree> {
  const recovered = await recoverCreations(context, main, home);
  const warnings = recovered.flatMap(({ action, reason }) =>
    action === 'left'
      ? [{ stage: `recovery-${reason}`, message: 'An earlier creation was left as it is.' }]
      : [],
  );
  const { transaction } = asked.request;
  if (transaction === null) return await make(context, main, home, asked, null, warnings, signal);
  const known = await findCreation(context, home, transaction.txId, fingerprint);
  if (known !== null) return { ...known, replayed: true, warnings };
  await claimSource(home, transaction);
  try {
    return await make(context, main, home, asked, fingerprint, warnings, signal);
  } catch (error) {
    if ((await home.records.read(journalName(transaction.txId))) !== null) throw error;
    await releaseSource(home, transaction);
    throw withDetails(error, { txState: 'absent' });
  }
}

async function make(
  context: CreateContext,
  main: RepositoryCapability,
  home: ManagedHome,
  asked: Asked,
  fingerprint: string | null,
  warnings: CreatedWorktree['warnings'],
  signal?: AbortSignal,
): Promise<CreatedWorktree> {
  const { selector, request, pull } = asked;
  const given = request.transaction?.txId ?? null;
  const beginning = { txId: given ?? randomUUID(), fingerprint, request, pull };
  const journal = await beginCreation(context, main, home, beginning, signal);
  const path = `${home.path}/${journal.plan.leaf}`;
  const onProgress = ({ done, total }: GitProgress): void =>
    context.tellProgress({ selector, txId: given, path, filesDone: done, filesTotal: total });
  try {
    const result = await completeCreation(context, main, home, journal, onProgress);
    return { ...result, replayed: false, warnings };
  } catch (error) {
    throw withDetails(error, { partial: true, stage: 'added-worktree-preserved' });
  }
}

/** Failures before anything is asked of the repository leave nothing either. */
async function withTransactionState<Result>(
  { transaction }: ParsedRequest,
  work: () => Promise<Result>,
): Promise<Result> {
  if (transaction === null) return await work();
  const { txId } = transaction;
  try {
    return await work();
  } catch (error) {
    throw withDetails(error, { txId });
  }
}

function withDetails(error: unknown, more: Readonly<Record<string, unknown>>): unknown {
  if (!isAuthorityError(error)) return error;
  const { code, details, legacy, cause } = error;
  return new AuthorityError(code, { details: { ...details, ...more }, legacy, cause: cause ?? error });
}

function rootOf({ managedRoots }: CreateContext): ManagedRoot {
  const root = managedRoots.find(({ scheme }) => scheme === 'authority');
  if (root === undefined) throw new AuthorityError('not_offered', { details: { reason: 'no-managed-root' } });
  return root;
}

/** Of a Git directory that lies elsewhere, Git itself does not find the main checkout from a worktree (decisions 4). */
async function assertPlainLayout({ root, repository }: RepositoryCapability): Promise<void> {
  if (await repository.commonDirectory.leadsHere(`${root}/.git`).catch(() => false)) return;
  throw unsupported('separate-git-dir');
}

/** Best effort: what cannot be fetched is as it was. */
async function fetchBriefly(
  context: CreateContext,
  capability: RepositoryCapability,
  signal?: AbortSignal,
): Promise<void> {
  const limit = AbortSignal.timeout(fetchLimitMs);
  const either = signal === undefined ? limit : AbortSignal.any([signal, limit]);
  try {
    await context.fetch(capability, either);
  } catch (cause) {
    if (signal?.aborted) throw new AuthorityError('aborted', { cause });
  }
}
