import type { ClearedPlace } from './cleared-place.ts';
import { type CommandParts, commandClasses, makeCommand } from './command-class.ts';
import { type HooksDirectory, hooksSetting } from './hook-settings.ts';
import { type NetworkAccess, networkEnvironment, networkSettings } from './network-access.ts';
import type { PinnedPlace } from './pinned-place.ts';
import type { GitCommand } from './run-git.ts';
import type { UserIdentity } from './user-configuration.ts';
import type { BranchName, CommitMessage, CommitOid, ObjectOid, RefName, RemoteName } from './values.ts';

export interface NewCommit {
  readonly tree: ObjectOid;
  /** First the commit that it follows; none for the first one of a branch. */
  readonly parents: readonly CommitOid[];
  readonly message: CommitMessage;
  readonly identity: UserIdentity;
}

export interface RefChange {
  /** The branch, or HEAD itself when it is detached. */
  readonly ref: RefName | 'HEAD';
  readonly next: CommitOid;
  /** What the ref must still say; null: that it must not exist. */
  readonly previous: CommitOid | null;
  readonly identity: UserIdentity;
  /** What the log of the ref calls it; default `commit`. */
  readonly log?: RefLog;
}

/** One entry of an index or a tree. */
export interface IndexEntry {
  /** Octal digits. */
  readonly mode: string;
  readonly oid: ObjectOid;
}

export interface IndexChange {
  /** Latin-1. */
  readonly path: string;
  /** Null: that there is none. */
  readonly entry: IndexEntry | null;
  /** Any object name of the repository, for its length; null where none is known. */
  readonly like: ObjectOid | null;
}

export interface NewBranch {
  readonly branch: RefName;
  readonly oid: CommitOid;
  /** One line for the log of the branch. */
  readonly reason: string;
  readonly identity: UserIdentity;
}

/** Why a ref moved, as its log says it. */
export type RefLog = 'commit' | 'pull' | 'merge';

export interface StartedMerge {
  readonly theirs: CommitOid;
  /** What the commit that concludes it says, unless somebody says something else. */
  readonly message: CommitMessage;
  readonly identity: UserIdentity;
}

/**
 * The commands that change a repository, as `readCommands` lists those that read: one row a command, data as typed values behind
 * `--end-of-options` or on standard input. They may take locks. None runs a hook, but `push` that of a trusted repository, and none forces.
 */
export const writeCommands = {
  /** Takes over into the index what the work tree has under each path: content, or that it is gone. Never looks into submodules. */
  stage: (place: ClearedPlace<'work-tree'>, paths: readonly string[]): GitCommand =>
    change('stage', place, {
      settings: place.settings,
      words: ['update-index', '--add', '--remove', '-z', '--stdin'],
      input: Buffer.from(paths.map((path) => `${path}\0`).join(''), 'latin1'),
    }),

  /** Sets single entries of the index, or takes them out of it; the files stay as they are. All of them or none. */
  setIndex: (place: PinnedPlace, entries: readonly IndexChange[]): GitCommand =>
    change('set-index', place, {
      words: ['update-index', '-z', '--index-info'],
      // What goes makes room for what comes: a file may stand where a directory was.
      input: Buffer.from(
        entries
          .toSorted((left, right) => Number(left.entry !== null) - Number(right.entry !== null))
          .map(({ path, entry, like }) => indexLine(path, entry, like))
          .join(''),
        'latin1',
      ),
    }),

  /** Makes the files that the index has under each path, where nothing stands; what stands there stays. Exit status 1: something did. */
  checkOutIndex: (place: ClearedPlace<'work-tree'>, paths: readonly string[]): GitCommand =>
    change('check-out-index', place, {
      settings: place.settings,
      words: ['checkout-index', '--quiet', '--index', '-z', '--stdin'],
      input: Buffer.from(paths.map((path) => `${path}\0`).join(''), 'latin1'),
    }),

  /** Takes the objects of a pack into the repository. */
  unpackObjects: (place: PinnedPlace, pack: Uint8Array): GitCommand =>
    change('unpack-objects', place, { words: ['unpack-objects', '-q', '--strict'], input: pack }),

  /** Writes the index as trees and prints the name of the top one. Fails for an unmerged index. */
  writeTree: (place: PinnedPlace): GitCommand => change('write-tree', place, { words: ['write-tree'] }),

  /** Makes a commit that no ref leads to yet, and prints its name. */
  commitTree: (place: PinnedPlace, { tree, parents, message, identity }: NewCommit): GitCommand =>
    change('commit-tree', place, {
      settings: ['i18n.commitEncoding=UTF-8'],
      words: ['commit-tree', '--no-gpg-sign', ...parents.flatMap((oid) => ['-p', oid]), '-F', '-', tree],
      input: Buffer.from(message, 'utf8'),
      environment: identityEnvironment(identity),
    }),

  /** Sets a ref if it still says what it said (git-update-ref(1)); HEAD's log follows when HEAD leads to it. */
  updateRef: (place: PinnedPlace, { ref, next, previous, identity, log = 'commit' }: RefChange): GitCommand =>
    change('update-ref', place, {
      words: ['update-ref', ...(ref === 'HEAD' ? ['--no-deref'] : []), '-m', log, '-z', '--stdin'],
      input: Buffer.from(`update ${ref}\0${next}\0${previous ?? absent(next)}\0`, 'utf8'),
      environment: identityEnvironment(identity),
    }),

  /**
   * What a merge of two commits comes to, in objects only: the name of its tree, then those of the files with conflicts, NUL after each.
   * Exit status 1: it has conflicts. Fails where the two have no common ancestor.
   */
  mergeTree: (place: ClearedPlace<'merge'>, ours: CommitOid, theirs: CommitOid): GitCommand =>
    makeCommand('merge-tree', commandClasses.merge, place, {
      settings: place.settings,
      words: [
        'merge-tree',
        '--write-tree',
        '-z',
        '--name-only',
        '--no-messages',
        '--end-of-options',
        ours,
        theirs,
      ],
      environment: locksAllowed,
    }),

  /** Looks which files of the index are as they were, and says it there. Exit status 1: some are not. */
  refreshIndex: (place: ClearedPlace<'merge'>): GitCommand =>
    change('refresh-index', place, {
      settings: place.settings,
      words: ['update-index', '-q', '--refresh', '--ignore-submodules'],
    }),

  /**
   * Takes index and files from one commit to another. Whatever would lose a change of a tracked file, or an untracked file that is not
   * ignored, makes it fail before it has changed anything.
   */
  checkOut: (place: ClearedPlace<'merge'>, from: CommitOid, to: CommitOid): GitCommand =>
    change('check-out', place, {
      settings: place.settings,
      words: ['read-tree', '-m', '-u', '--end-of-options', from, to],
    }),

  /** Merges a commit into the index and the files, and stops before the commit (git-merge(1)). Exit status 1: at conflicts. */
  startMerge: (place: ClearedPlace<'merge'>, { theirs, message, identity }: StartedMerge): GitCommand =>
    change('merge', place, {
      settings: ['rerere.enabled=false', 'merge.branchdesc=false', ...place.settings],
      words: [
        'merge',
        '--no-commit',
        '--no-ff',
        '--no-squash',
        '--no-edit',
        '--no-log',
        '--no-signoff',
        '--no-stat',
        '--no-progress',
        '--no-autostash',
        '--no-rerere-autoupdate',
        '--no-verify',
        '--no-verify-signatures',
        '--no-gpg-sign',
        '--strategy=ort',
        `--message=${message}`,
        '--end-of-options',
        theirs,
      ],
      environment: identityEnvironment(identity),
    }),

  /** Forgets a merge that has been committed; index and files stay. */
  endMerge: (place: PinnedPlace): GitCommand => change('end-merge', place, { words: ['merge', '--quit'] }),

  /**
   * Makes a branch that must not exist. Its log says why, in the words given (git-update-ref(1)), also where the repository keeps none.
   */
  createBranch: (place: PinnedPlace, { branch, oid, reason, identity }: NewBranch): GitCommand =>
    change('create-branch', place, {
      settings: ['core.logAllRefUpdates=true'],
      words: ['update-ref', '--create-reflog', '-m', reason, '-z', '--stdin'],
      input: Buffer.from(`update ${branch}\0${oid}\0${absent(oid)}\0`, 'utf8'),
      environment: identityEnvironment(identity),
    }),

  /** Takes a branch away if it still is at this commit. */
  deleteBranch: (place: PinnedPlace, branch: RefName, oid: CommitOid): GitCommand =>
    change('delete-branch', place, {
      words: ['update-ref', '-z', '--stdin'],
      input: Buffer.from(`delete ${branch}\0${oid}\0`, 'utf8'),
    }),

  /** Lets a branch follow one of `origin`. */
  setUpstream: (place: PinnedPlace, branch: BranchName, upstream: RefName): GitCommand =>
    change('set-upstream', place, {
      words: ['branch', '--quiet', `--set-upstream-to=${upstream}`, branch],
    }),

  /**
   * Adds a worktree for a branch that nobody has checked out, in an empty directory that is there, named by its descriptor path. No file is
   * checked out yet, and no hook runs.
   */
  addWorktree: (place: PinnedPlace, path: string, branch: BranchName): GitCommand =>
    change('worktree-add', place, {
      words: ['worktree', 'add', '--quiet', '--no-checkout', '--no-guess-remote', path, branch],
    }),

  /** Fills index and files of a worktree that has none yet, and says at each per cent how far it has come. */
  fillWorktree: (place: ClearedPlace<'work-tree'>, oid: CommitOid): GitCommand =>
    change('worktree-fill', place, {
      settings: place.settings,
      // Without a delay (git(1)): who waits for many files wants to know from the first second.
      environment: { GIT_PROGRESS_DELAY: '0' },
      words: ['read-tree', '--reset', '-u', '-v', '--no-recurse-submodules', '--end-of-options', oid],
    }),

  /** Forgets a worktree whose directory is gone; nothing else is touched. */
  forgetWorktree: (place: PinnedPlace, path: string): GitCommand =>
    change('worktree-forget', place, { words: ['worktree', 'remove', '--force', '--force', path] }),

  /** All branches of a remote, into the refs that remember them and nothing else; those that are gone there go here too. */
  fetch: (
    place: ClearedPlace<'network'>,
    remote: RemoteName,
    access: NetworkAccess,
    commandClass: 'fetch' | 'backgroundFetch' = 'fetch',
  ): GitCommand =>
    makeCommand('fetch', commandClasses[commandClass], place, {
      settings: networkSettings(access),
      words: [
        'fetch',
        '--quiet',
        '--prune',
        '--no-tags',
        '--no-recurse-submodules',
        '--no-write-fetch-head',
        '--no-auto-maintenance',
        '--upload-pack=git-upload-pack',
        '--refmap=',
        '--end-of-options',
        remote,
        `+refs/heads/*:refs/remotes/${remote}/*`,
      ],
      environment: { ...locksAllowed, ...networkEnvironment(access) },
    }),

  /** One ref of a remote into a ref that is not there. */
  fetchRef: (
    place: ClearedPlace<'network'>,
    remote: RemoteName,
    from: RefName,
    to: RefName,
    access: NetworkAccess,
  ): GitCommand =>
    makeCommand('fetch-ref', commandClasses.fetch, place, {
      settings: networkSettings(access),
      words: [
        'fetch',
        '--quiet',
        '--no-tags',
        '--no-recurse-submodules',
        '--no-write-fetch-head',
        '--no-auto-maintenance',
        '--upload-pack=git-upload-pack',
        '--refmap=',
        '--end-of-options',
        remote,
        `${from}:${to}`,
      ],
      environment: { ...locksAllowed, ...networkEnvironment(access) },
    }),

  /** One branch to the branch of the same name, whatever the repository would have pushed (W12). Prints git-push(1)'s `--porcelain` lines. */
  push: (
    place: ClearedPlace<'network'>,
    remote: RemoteName,
    branch: RefName,
    access: NetworkAccess,
    hooks: HooksDirectory | null = null,
  ): GitCommand =>
    makeCommand('push', commandClasses.push, place, {
      settings: [
        ...networkSettings(access),
        `remote.${remote}.mirror=false`,
        'push.pushOption=',
        ...(hooks === null ? [] : [hooksSetting(hooks)]),
      ],
      words: [
        'push',
        '--porcelain',
        '--no-force',
        ...(hooks === null ? ['--no-verify'] : []),
        '--no-signed',
        '--no-follow-tags',
        '--recurse-submodules=no',
        '--receive-pack=git-receive-pack',
        '--end-of-options',
        remote,
        `${branch}:${branch}`,
      ],
      environment: { ...locksAllowed, ...networkEnvironment(access) },
    }),
} as const;

export const locksAllowed = { GIT_OPTIONAL_LOCKS: '1' };

/** A person's own Git may hold a ref for a moment. */
const lockSettings = ['core.filesRefLockTimeout=2000', 'core.packedRefsTimeout=2000'];

function change(name: string, place: PinnedPlace, parts: CommandParts): GitCommand {
  return makeCommand(name, commandClasses.change, place, {
    ...parts,
    settings: [...lockSettings, ...(parts.settings ?? [])],
    environment: { ...locksAllowed, ...parts.environment },
  });
}

export function identityEnvironment({ name, email }: UserIdentity): Record<string, string> {
  return {
    GIT_AUTHOR_NAME: name,
    GIT_AUTHOR_EMAIL: email,
    GIT_COMMITTER_NAME: name,
    GIT_COMMITTER_EMAIL: email,
  };
}

/** git-update-index(1), `--index-info`, the second form. */
function indexLine(path: string, entry: IndexEntry | null, like: ObjectOid | null): string {
  const { mode, oid } = entry ?? { mode: '0', oid: like === null ? '0'.repeat(40) : absent(like) };
  return `${mode} ${oid}\t${path}\0`;
}

/** The null object name, as long as the format has it. */
function absent(like: ObjectOid): string {
  return '0'.repeat(like.length);
}
