import { randomBytes } from 'node:crypto';
import { familyKey } from '../actions/in-family.ts';
import { toStoredIdentity } from '../capability/identity.ts';
import type { ManagedWorktreeCapability } from '../capability/managed-worktree-capability.ts';
import { refusalOf } from '../capability/refusal.ts';
import { AuthorityError } from '../errors/index.ts';
import { directoryOf } from '../sessions/occupied-directory.ts';
import { findProcessesInside } from '../sessions/processes-inside.ts';
import { assertArchivable } from './archive-consent.ts';
import type { ArchiveContext } from './archive-context.ts';
import type { ArchiveOutcome, ArchiveRequest } from './archive-contract.ts';
import { type ArchivedFacts, printFacts } from './archive-facts.ts';
import { openJournals, type WorktreeJournal } from './archive-journal.ts';
import { membersOf } from './archive-members.ts';
import type { Records } from './archive-records.ts';
import { endWorkspace } from './archive-workspace.ts';
import { describeSurvey, requireManaged } from './preflight.ts';
import { surveyWorktree, type WorktreeSurvey } from './preflight-survey.ts';
import { stageName, WorktreeParent } from './quarantine.ts';
import { nameOfRow, type RowLock, removeRow, rowLock } from './quarantine-row.ts';
import { type Remains, removeContents } from './quarantine-tree.ts';

/** See `WorktreeArchives.archive`. */
export async function archiveWorktree(
  context: ArchiveContext,
  selector: string,
  request: ArchiveRequest,
  signal?: AbortSignal,
): Promise<ArchiveOutcome> {
  await using authorized = await context.authority.authorizeRepository(selector, signal);
  const capability = requireManaged(authorized);
  return await context.gate.run(
    [familyKey(capability)],
    async () => {
      await capability.assertCurrent(signal);
      return await new ArchiveAct(context, capability).run(request, signal);
    },
    signal === undefined ? {} : { signal },
  );
}

/** One archive, in the turn of its family. */
class ArchiveAct {
  readonly #context: ArchiveContext;
  readonly #capability: ManagedWorktreeCapability;
  readonly #id = randomBytes(16).toString('hex');

  constructor(context: ArchiveContext, capability: ManagedWorktreeCapability) {
    this.#context = context;
    this.#capability = capability;
  }

  async run(request: ArchiveRequest, signal?: AbortSignal): Promise<ArchiveOutcome> {
    const { archives, openRoot, git } = this.#context;
    const capability = this.#capability;
    const survey = await this.#survey(false, signal);
    await this.#assertConsent(survey, request, signal);
    using parent = new WorktreeParent(
      await openRoot(directoryAbove(capability.root)).catch(refuse),
      capability.root,
    );
    using journals = await openJournals(this.#context);
    const row = await this.#rowName();
    // Its id now: whatever is registered under the path later is not what is taken away.
    const workspace = await this.#context.workspaces.find(capability.root);
    const owner = familyKey(capability);
    const facts = printFacts(this.#facts(survey));
    const members = membersOf(git, capability, survey, signal);
    const { id: archive } = await archives.write({ kind: 'worktree', owner, facts, members }, signal);
    const journal = this.#journal(archive, request, workspace?.id ?? null);
    try {
      await this.#setAside(parent, journals, journal, survey);
    } catch (error) {
      // Nothing is gone, so nothing needs to be kept; what could not be put back has its journal, and keeps the archive.
      if (await parent.has(parent.leaf, capability.held.directory.place())) await archives.drop(archive);
      throw error;
    }
    await this.#remove(parent, row, archive);
    await archives.finish(archive);
    const end = await endWorkspace(this.#context, journal);
    await journals.remove(this.#id);
    return { path: capability.root, branch: shortBranch(survey), archive, ...end };
  }

  /** From here on an abort is not heard: each change is taken back, or carried to the end. */
  async #setAside(
    parent: WorktreeParent,
    journals: Records<WorktreeJournal>,
    journal: WorktreeJournal,
    survey: WorktreeSurvey,
  ): Promise<void> {
    const { root, held, repository } = this.#capability;
    const place = held.directory.place();
    await this.#capability.assertCurrent();
    await this.#context.occupation.assertUnoccupied(directoryOf(this.#capability));
    await journals.write(journal);
    const lock = rowLock(repository.gitDirectory, this.#id);
    const [aside, leaving] = [stageName('aside', this.#id), stageName('leaving', this.#id)];
    if (!(await lock.take())) {
      await journals.remove(this.#id);
      throw new AuthorityError('worktree_locked');
    }
    try {
      await this.#capability.assertCurrent();
      if (!(await parent.move(parent.leaf, aside, place))) throw new AuthorityError('identity_changed');
      // Whoever came while we looked is seen now, and whoever comes later finds nothing.
      const directory = directoryOf(this.#capability);
      const paths = [root, `${parent.path}/${aside}`];
      await this.#context.occupation.assertUnoccupied({ ...directory, paths });
      const now = await this.#survey(true);
      if (now.token !== survey.token) throw new AuthorityError('worktree_changed');
      if (!(await parent.move(aside, leaving, place))) throw new AuthorityError('identity_changed');
    } catch (error) {
      await this.#putBack(parent, lock, journals, aside);
      throw error;
    }
  }

  /** What cannot be put back stays aside with its journal, and recovery tells of it. */
  async #putBack(
    parent: WorktreeParent,
    lock: RowLock,
    journals: Records<WorktreeJournal>,
    aside: string,
  ): Promise<void> {
    const place = this.#capability.held.directory.place();
    if (await parent.has(aside, place)) {
      if (!(await parent.move(aside, parent.leaf, place))) {
        const details = {
          reason: 'teardown-failed',
          stage: 'path-rebound',
          partial: true,
          path: this.#capability.root,
        };
        throw new AuthorityError('worktree_teardown_failed', { details });
      }
    }
    await lock.release();
    await journals.remove(this.#id);
  }

  async #remove(parent: WorktreeParent, row: string, archive: string): Promise<void> {
    const { repository } = this.#capability;
    const leaving = stageName('leaving', this.#id);
    // Opened anew, beneath a handle that crosses no mount whatever its row allows.
    const directory = await parent.directory.openDirectory(leaving).catch(refuse);
    try {
      this.#assertGone(await removeContents(directory), 'worktree-remove', archive);
    } finally {
      directory.close();
    }
    await parent.directory.removeDirectory(leaving, null).catch(refuse);
    const remains = await removeRow(repository.commonDirectory, row, repository.gitDirectory);
    this.#assertGone(remains, 'worktree-remove', archive);
    const isGone =
      (await parent.isFree(leaving)) &&
      (await nameOfRow(repository.commonDirectory, repository.gitDirectory.place())) === null;
    if (!isGone) this.#assertGone({ count: 1, paths: [] }, 'archive-postcondition', archive);
  }

  #assertGone({ count, paths }: Remains, stage: string, archive: string): void {
    if (count === 0) return;
    const details = { reason: 'teardown-failed', stage, partial: true, archive, remaining: count, paths };
    throw new AuthorityError('worktree_teardown_failed', { details });
  }

  async #rowName(): Promise<string> {
    const { commonDirectory, gitDirectory } = this.#capability.repository;
    const name = await nameOfRow(commonDirectory, gitDirectory.place());
    if (name === null) throw new AuthorityError('identity_changed', { details: { what: 'git dir' } });
    return name;
  }

  #survey(ownLock: boolean, signal?: AbortSignal): Promise<WorktreeSurvey> {
    return surveyWorktree(this.#context, this.#capability, { ownLock, signal });
  }

  async #assertConsent(survey: WorktreeSurvey, request: ArchiveRequest, signal?: AbortSignal): Promise<void> {
    const directory = directoryOf(this.#capability);
    const occupants = await (await this.#context.occupation.survey(signal)).occupants(directory);
    const inhabitants = { occupants, processes: await findProcessesInside(directory) };
    const shown = describeSurvey(this.#capability.root, survey, inhabitants);
    assertArchivable(this.#context, shown, request);
  }

  #journal(
    archive: string,
    { deferWorkspaceDelete = false }: ArchiveRequest,
    workspaceId: string | null,
  ): WorktreeJournal {
    const { root, held, repository } = this.#capability;
    return {
      id: this.#id,
      act: 'archive',
      mainRoot: repository.mainRoot,
      path: root,
      root: toStoredIdentity(held.directory.identity()),
      gitDirectory: toStoredIdentity(repository.gitDirectory.identity()),
      archive,
      workspaceId,
      deferWorkspaceDelete,
      createdAt: new Date().toISOString(),
    };
  }

  #facts(survey: WorktreeSurvey): ArchivedFacts {
    const { root, repository, managed } = this.#capability;
    const head = survey.head.commit;
    if (head === null) throw new AuthorityError('worktree_blocked', { details: { reason: 'unborn-head' } });
    const branch = shortBranch(survey);
    return { path: root, mainRoot: repository.mainRoot, branch, head, managed, files: survey.files.size };
  }
}

function shortBranch({ head }: WorktreeSurvey): string | null {
  return head.branch?.slice('refs/heads/'.length) ?? null;
}

function directoryAbove(path: string): string {
  return path.slice(0, path.lastIndexOf('/'));
}

function refuse(error: unknown): never {
  throw refusalOf(error);
}
