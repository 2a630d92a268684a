import type { ClearedPlace } from './cleared-place.ts';
import { commandClasses, makeCommand } from './command-class.ts';
import type { PinnedPlace } from './pinned-place.ts';
import type { GitCommand } from './run-git.ts';
import type { CommitOid, ObjectOid } from './values.ts';

const { history, content, patch, change } = commandClasses;
const locksAllowed = { GIT_OPTIONAL_LOCKS: '1' };

/** What stays when a worktree goes: all refs that people look at, or only those that remember `origin`. */
export type Remaining = 'refs' | 'origin';

const remainingWords: Readonly<Record<Remaining, readonly string[]>> = {
  refs: ['--branches', '--tags', '--remotes'],
  origin: ['--remotes=origin'],
};

/** The commands by which a worktree is looked over, kept and brought back. Data are typed values or standard input. */
export const preserveCommands = {
  /** Letter, mode, object, stage and name of each entry of the index (git-ls-files(1), `-v`), NUL after each. */
  indexEntries: (place: PinnedPlace): GitCommand =>
    makeCommand('index-entries', content, place, { words: ['ls-files', '-z', '-v', '-s'] }),

  /** Names of the commits that a commit reaches and nothing that remains does, newest first, at most so many. */
  commitsBeyond: (place: PinnedPlace, tip: CommitOid, remaining: Remaining, limit: number): GitCommand =>
    makeCommand('commits-beyond', history, place, {
      words: ['rev-list', `--max-count=${limit}`, tip, '--not', ...remainingWords[remaining], '--'],
    }),

  /**
   * Names of the objects that lead away from some names and that no branch, tag or remote branch has; a name of no object counts for
   * nothing. May name some that are there anyway.
   */
  looseObjects: (place: PinnedPlace, names: readonly string[], excluded: ObjectOid | null): GitCommand =>
    makeCommand('loose-objects', { ...history, outputLimitBytes: patch.outputLimitBytes }, place, {
      words: [
        'rev-list',
        '--objects',
        '--no-object-names',
        '--ignore-missing',
        '--stdin',
        '--not',
        ...remainingWords.refs,
      ],
      input: Buffer.from(
        [...names, ...(excluded === null ? [] : [`^${excluded}`])].map((name) => `${name}\n`).join(''),
      ),
    }),

  /** A pack of exactly these objects (gitformat-pack(5)). */
  packObjects: (place: PinnedPlace, objects: Uint8Array): GitCommand =>
    makeCommand('pack-objects', patch, place, {
      words: ['pack-objects', '--stdout', '-q', '--threads=1'],
      input: objects,
    }),

  /** Writes the objects of a pack, one file each. */
  unpackObjects: (place: PinnedPlace, pack: Uint8Array): GitCommand =>
    makeCommand('unpack-objects', change, place, { words: ['unpack-objects', '-q'], input: pack }),

  /** A linked worktree without files: on a local branch, or detached at a commit. */
  addEmptyWorktree: (
    place: PinnedPlace,
    path: string,
    at: { readonly branch: string } | { readonly commit: CommitOid },
  ): GitCommand => {
    if (!path.startsWith('/') || path.includes('\0')) throw new TypeError('not an absolute path');
    return makeCommand('worktree-add', change, place, {
      words: [
        'worktree',
        'add',
        '--quiet',
        '--no-checkout',
        ...('branch' in at ? [path, at.branch] : ['--detach', path, at.commit]),
      ],
      environment: locksAllowed,
    });
  },

  /** Makes the files of these entries of the index, where nothing stands; never overwrites. Paths are Latin-1. */
  checkOutFiles: (place: ClearedPlace<'work-tree'>, paths: readonly string[]): GitCommand =>
    makeCommand('check-out-files', change, place, {
      settings: place.settings,
      words: ['checkout-index', '--quiet', '-u', '-z', '--stdin'],
      input: Buffer.from(paths.map((path) => `${path}\0`).join(''), 'latin1'),
      environment: locksAllowed,
    }),
} as const;
