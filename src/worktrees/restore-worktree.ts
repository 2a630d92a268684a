import { randomBytes } from 'node:crypto';
import { dirname } from 'node:path/posix';
import { familyKey } from '../actions/in-family.ts';
import type { ArchiveEntry } from '../archive/archives.ts';
import type { OpenArchive } from '../archive/open-archive.ts';
import { toStoredIdentity } from '../capability/identity.ts';
import { refusalOf } from '../capability/refusal.ts';
import type { RepositoryCapability } from '../capability/repository-capability.ts';
import { AuthorityError } from '../errors/index.ts';
import { findBranchHolders } from '../git/branch-holders.ts';
import { runExpecting } from '../git/expect-success.ts';
import { findCommit } from '../git/find-commit.ts';
import { parseIndexEntries } from '../git/index-entries.ts';
import { pinnedPlace } from '../git/pinned-place.ts';
import { preserveCommands } from '../git/preserve-commands.ts';
import { readRefTips } from '../git/ref-tips.ts';
import { runWriting } from '../git/run-writing.ts';
import { parseRefName } from '../git/values.ts';
import { printOwnMetadata } from '../proof/managed-metadata.ts';
import { findNamespace } from '../proof/managed-namespace.ts';
import type { ArchiveContext } from './archive-context.ts';
import type { RestoreOutcome } from './archive-contract.ts';
import { type ArchivedFacts, readFacts } from './archive-facts.ts';
import { openJournals } from './archive-journal.ts';
import { administration, areas, ownMetadata } from './archive-members.ts';
import { lookAt } from './preflight-survey.ts';
import { stageName, WorktreeParent } from './quarantine.ts';
import { discardArrival } from './restore-arrival.ts';

const namesTried = 1000;
const namedAtMost = 20;

/** See `WorktreeArchives.restore`. */
export async function restoreWorktree(
  context: ArchiveContext,
  selector: string,
  archiveId: string,
  signal?: AbortSignal,
): Promise<RestoreOutcome> {
  await using selected = await context.authority.authorizeRepository(selector, signal);
  await using main = await context.authority.mainCheckoutOf(selected, signal);
  return await context.gate.run(
    [familyKey(main)],
    async () => {
      await main.assertCurrent(signal);
      using archive = await context.archives.open(archiveId);
      const { kind, owner } = archive.summary;
      if (kind !== 'worktree' || owner !== familyKey(main)) throw new AuthorityError('archive_not_found');
      const facts = readFacts(archive.summary.facts);
      if (facts === null || facts.mainRoot !== main.root)
        throw notRestorable('archive-of-another-main-checkout');
      return await restoreInTurn(context, main, archive, facts);
    },
    signal === undefined ? {} : { signal },
  );
}

async function restoreInTurn(
  context: ArchiveContext,
  main: RepositoryCapability,
  archive: OpenArchive,
  facts: ArchivedFacts,
): Promise<RestoreOutcome> {
  const { git, authority } = context;
  if (findNamespace(context.managedRoots, facts.path) === null) throw notRestorable('outside-managed-root');
  const directory = await context.openRoot(dirname(facts.path)).catch(() => {
    throw notRestorable('managed-root-unavailable');
  });
  using kept = new WorktreeParent(directory, facts.path);
  const leaf = await freeName(kept);
  const path = `${kept.path}/${leaf}`;
  const id = randomBytes(16).toString('hex');
  const arriving = stageName('arriving', id);
  const common = main.repository.commonDirectory;
  using journals = await openJournals(context);
  await journals.write({
    id,
    act: 'restore',
    mainRoot: main.root,
    path,
    root: null,
    gitDirectory: null,
    archive: archive.summary.id,
    workspaceId: null,
    deferWorkspaceDelete: false,
    createdAt: new Date().toISOString(),
  });
  try {
    await bringObjects(context, main, archive);
    if ((await findCommit(main, git, facts.head)) === null) throw notRestorable('commit-missing');
    const attached = facts.branch !== null && (await isFree(context, main, facts.branch, facts.head));
    const at = attached && facts.branch !== null ? { branch: facts.branch } : { commit: facts.head };
    await main.assertCurrent();
    await runWriting(
      git,
      preserveCommands.addEmptyWorktree(pinnedPlace(main), `${kept.path}/${arriving}`, at),
    );
    const { restored, missing } = await fillArrival(
      context,
      `${kept.path}/${arriving}`,
      path,
      archive,
      facts,
    );
    const place = await lookAt(kept.directory, arriving);
    if (place === null || !(await kept.move(arriving, leaf, place))) throw notRestorable('path-taken');
    await journals.remove(id);
    await using proven = await authority.authorizeRepository(path);
    if (proven.kind !== 'managed-worktree') throw notRestorable('owner-record-missing');
    const branch = attached ? facts.branch : null;
    return { path, branch, head: facts.head, files: restored, missing };
  } catch (error) {
    // Once it stands under its name it may be in use.
    if ((await journals.read(id)) !== null && (await discardArrival(common, kept, id)) === 0)
      await journals.remove(id);
    throw error;
  }
}

async function freeName(parent: WorktreeParent): Promise<string> {
  for (let count = 0; count < namesTried; count += 1) {
    const name = count === 0 ? parent.leaf : `${parent.leaf}-${count}`;
    if (await parent.isFree(name)) return name;
  }
  throw notRestorable('path-taken');
}

/** Whether a branch still is where the worktree left it, and checked out nowhere. */
async function isFree(
  { git }: ArchiveContext,
  main: RepositoryCapability,
  branch: string,
  head: string,
): Promise<boolean> {
  const ref = parseRefName(`refs/heads/${branch}`);
  if (ref === null) return false;
  const tips = await readRefTips(main, git, [ref]);
  if (tips.get(ref)?.commit !== head) return false;
  return (await findBranchHolders(main, ref)).length === 0;
}

async function bringObjects(
  { git }: ArchiveContext,
  main: RepositoryCapability,
  archive: OpenArchive,
): Promise<void> {
  for (const entry of await archive.entries(areas.objects)) {
    const command = preserveCommands.unpackObjects(pinnedPlace(main), await bytesOfEntry(archive, entry));
    await runWriting(git, command);
  }
}

async function bytesOfEntry(archive: OpenArchive, entry: ArchiveEntry): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of archive.content(entry)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** Everything, under a name that nobody knows. */
async function fillArrival(
  context: ArchiveContext,
  arriving: string,
  path: string,
  archive: OpenArchive,
  facts: ArchivedFacts,
): Promise<{ readonly restored: number; readonly missing: readonly string[] }> {
  const { git, authority, configuration } = context;
  await using capability = await authority.authorizeRepository(arriving);
  const { held, repository } = capability;
  const inGitDirectory = (await archive.entries(areas.gitDirectory)).filter(
    ({ path: name }) => !administration.has(name) && !name.startsWith(`${ownMetadata}/`),
  );
  await archive.restore(
    { directory: repository.gitDirectory, guard: null },
    { entries: inGitDirectory, mayReplace: async () => true },
  );
  const command = preserveCommands.indexEntries(pinnedPlace(capability));
  const entries = parseIndexEntries(await runExpecting(git, command));
  if (entries === null) throw notRestorable('index-unreadable');
  const [elsewhere] = await archive.entries(areas.facts);
  const skipped = new Set(
    elsewhere === undefined ? [] : (await bytesOfEntry(archive, elsewhere)).toString('latin1').split('\0'),
  );
  const paths = entries.map((entry) => entry.path).filter((name) => !skipped.has(name));
  const place = await configuration.clear(capability, 'work-tree');
  if (paths.length > 0) await runWriting(git, preserveCommands.checkOutFiles(place, paths));
  const files = await archive.entries(areas.files);
  const outcomes = await archive.restore(
    { directory: held.directory, guard: held.guard, confinement: held.confinement },
    { entries: files },
  );
  const missing = outcomes.filter(({ outcome }) => outcome === 'in-the-way' || outcome === 'refused');
  if (facts.managed.version === 2) await writeMetadata(capability, facts);
  await pointAt(capability, `${path}/.git\n`);
  return {
    restored: outcomes.length - missing.length,
    missing: missing.slice(0, namedAtMost).map((one) => Buffer.from(one.path, 'latin1').toString('utf8')),
  };
}

async function writeMetadata(
  { held, repository }: RepositoryCapability,
  facts: ArchivedFacts,
): Promise<void> {
  const { gitDirectory } = repository;
  const bytes = printOwnMetadata(facts.managed, facts.mainRoot, {
    root: toStoredIdentity(held.directory.identity()),
    gitDirectory: toStoredIdentity(gitDirectory.identity()),
  });
  try {
    await gitDirectory.makeDirectory(ownMetadata, 0o700, null);
    const change = { bytes, mode: 0o600, temporaryName: '.worktree.json.tmp' };
    await gitDirectory.create(`${ownMetadata}/worktree.json`, change, null);
  } catch (error) {
    throw refusalOf(error);
  }
}

/** Where Git looks for the worktree (gitrepository-layout(5), `gitdir`). */
async function pointAt({ repository }: RepositoryCapability, pointer: string): Promise<void> {
  const { gitDirectory } = repository;
  try {
    const file = await gitDirectory.openFile('gitdir', null);
    try {
      const { inode, device } = file.identity();
      const baseBytes = await file.readAt(0, 65_536);
      const change = { bytes: Buffer.from(pointer), baseBytes, baseInode: inode, baseDevice: device };
      const { outcome } = await gitDirectory.replace(
        'gitdir',
        { ...change, temporaryName: '.gitdir.tmp' },
        null,
      );
      if (outcome !== 'committed')
        throw new AuthorityError('identity_changed', { details: { what: 'git dir' } });
    } finally {
      file.close();
    }
  } catch (error) {
    throw refusalOf(error);
  }
}

function notRestorable(reason: string): AuthorityError {
  return new AuthorityError('worktree_not_restorable', { details: { reason } });
}
