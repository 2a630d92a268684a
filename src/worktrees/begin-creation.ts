import { toStoredIdentity } from '../capability/identity.ts';
import { currentProcess } from '../capability/process-owner.ts';
import { codeOf, refusalOf } from '../capability/refusal.ts';
import type { RepositoryCapability } from '../capability/repository-capability.ts';
import { AuthorityError } from '../errors/index.ts';
import { pinnedPlace } from '../git/pinned-place.ts';
import { runWriting } from '../git/run-writing.ts';
import { writeCommands } from '../git/write-commands.ts';
import { chooseBranch, headOf } from './choose-branch.ts';
import { headOfAdded, proveAdded } from './complete-creation.ts';
import type { CreateContext } from './create-context.ts';
import type { ParsedRequest } from './create-request.ts';
import { type CreationPlan, type Journal, journalName, printJournal } from './journal.ts';
import { readListed } from './listed-worktrees.ts';
import type { ManagedHome } from './managed-home.ts';
import { alternativesOf, leafOf } from './names.ts';
import { readJournal } from './recover-creations.ts';
import { branchReason, undoCreation } from './undo-creation.ts';
import type { VerifiedPull } from './verified-pulls.ts';

export interface Beginning {
  readonly txId: string;
  readonly fingerprint: string | null;
  readonly request: ParsedRequest;
  readonly pull: VerifiedPull | null;
}

/** Whom the log of the branch names. */
const identity = { name: 'workspace-authority', email: 'workspace-authority@localhost' };

/**
 * Takes a creation to the point where Git knows the worktree and every fact of it is proven: a directory of a free name, the branch, the row.
 * What fails before that is taken back. Only until the journal is written does the signal end it.
 * @throws as `chooseBranch` | `untrusted_repository_config` | `creation_names_used_up` | `managed_root_unusable` | ...
 */
export async function beginCreation(
  context: CreateContext,
  main: RepositoryCapability,
  home: ManagedHome,
  beginning: Beginning,
  signal?: AbortSignal,
): Promise<Journal> {
  const { txId, fingerprint, request, pull } = beginning;
  // The files are filled in later; what would refuse that refuses now.
  await context.configuration.clear(main, 'work-tree', signal);
  const chosen = await chooseBranch(context, main, request, pull, signal);
  const taken = new Set((await readListed(main, context.git)).map(({ path }) => path));
  await main.assertCurrent(signal);
  const planned = {
    ...chosen,
    intent: pull === null ? request.intent : ('pr-checkout' as const),
    pullNumber: pull?.number ?? null,
    sourceTitle: request.sourceTitle,
    createdAtMs: Date.now(),
  };
  for (const leaf of alternativesOf(leafOf(main.root, chosen.branch))) {
    const path = `${home.path}/${leaf}`;
    if (taken.has(path) || (await context.registry.find(path)) !== null || (await exists(home, leaf)))
      continue;
    const plan: CreationPlan = { ...planned, leaf };
    const owner = currentProcess();
    const prepared: Journal = {
      txId,
      fingerprint,
      owner,
      phase: 'prepared',
      plan,
      root: null,
      gitDirectory: null,
    };
    await writeJournal(home, prepared);
    const journal = await orUndo(context, main, home, txId, () => add(context, main, home, prepared));
    if (journal !== null) return journal;
    await forget(home, prepared);
  }
  throw new AuthorityError('creation_names_used_up', { details: { what: 'directory' } });
}

/** Null: somebody took the name meanwhile. */
async function add(
  context: CreateContext,
  main: RepositoryCapability,
  home: ManagedHome,
  prepared: Journal,
): Promise<Journal | null> {
  const { plan, txId } = prepared;
  const place = pinnedPlace(main);
  await home.assertInPlace();
  if (!(await makeDirectory(home, plan.leaf))) return null;
  const made = await home.directory.openDirectory(plan.leaf);
  const root = toStoredIdentity(made.identity());
  made.close();
  const journal: Journal = { ...prepared, root };
  await writeJournal(home, journal);
  if (plan.ownsBranch) {
    const branch = { branch: headOf(plan.branch), oid: plan.oid, reason: branchReason(txId), identity };
    await runWriting(context.git, writeCommands.createBranch(place, branch));
  }
  await main.assertCurrent();
  const target = `${home.directory.descriptorPath()}/${plan.leaf}`;
  await runWriting(context.git, writeCommands.addWorktree(place, target, plan.branch));
  await home.assertInPlace();
  return await proveAndNote(context, main, home, journal);
}

async function proveAndNote(
  context: CreateContext,
  main: RepositoryCapability,
  home: ManagedHome,
  journal: Journal,
): Promise<Journal> {
  const path = `${home.path}/${journal.plan.leaf}`;
  await using tree = await proveAdded(context, main, path, journal);
  const oid = await headOfAdded(context, tree, journal.plan);
  const gitDirectory = toStoredIdentity(tree.repository.gitDirectory.identity());
  const added: Journal = { ...journal, phase: 'added', plan: { ...journal.plan, oid }, gitDirectory };
  await writeJournal(home, added);
  return added;
}

/** What fails before Git knows a proven worktree is taken back; what cannot be taken back now is for the recovery. */
async function orUndo<Result>(
  context: CreateContext,
  main: RepositoryCapability,
  home: ManagedHome,
  txId: string,
  step: () => Promise<Result>,
): Promise<Result> {
  try {
    return await step();
  } catch (error) {
    // As it is on disk: it may say more by now than it did before the step.
    const journal = await readJournal(home, txId);
    if (journal !== null && journal !== 'invalid' && journal.phase === 'prepared')
      await undoCreation(context, main, home, journal).catch(() => null);
    throw error;
  }
}

async function forget({ records }: ManagedHome, { txId }: Journal): Promise<void> {
  const record = await records.read(journalName(txId));
  if (record !== null) await records.remove(record);
}

async function writeJournal({ records }: ManagedHome, journal: Journal): Promise<void> {
  const name = journalName(journal.txId);
  const bytes = printJournal(journal);
  if (await records.create(name, bytes)) return;
  const known = await records.read(name);
  if (known === null) throw new AuthorityError('busy');
  await records.replace(known, bytes);
}

async function makeDirectory({ directory }: ManagedHome, leaf: string): Promise<boolean> {
  try {
    await directory.makeDirectory(leaf, 0o755, null);
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw refusalOf(error);
  }
}

async function exists({ directory }: ManagedHome, leaf: string): Promise<boolean> {
  try {
    await directory.stat(leaf, null);
    return true;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false;
    throw refusalOf(error);
  }
}
