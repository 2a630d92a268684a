import type { ClearedPlace } from './cleared-place.ts';
import { commandClasses, makeCommand } from './command-class.ts';
import { diffArguments, diffNumberArguments, diffSettings } from './diff-arguments.ts';
import type { EmptyTree } from './empty-tree.ts';
import type { PinnedPlace } from './pinned-place.ts';
import type { GitCommand } from './run-git.ts';
import type { CommitOid, LiteralPath, ObjectOid, RefName } from './values.ts';

const { history, content, patch } = commandClasses;

export interface CommitRange {
  readonly tip: CommitOid;
  /** Left out with all that they reach. */
  readonly excluded: readonly CommitOid[];
  /** At most so many, from 1 to 100,000; newest first. */
  readonly limit: number;
}

export interface DiffOptions {
  /** Only files at or below this path. */
  readonly path?: LiteralPath;
  /** Lines that differ in white space only count as equal. */
  readonly ignoreWhitespace?: boolean;
}

export interface StatusOptions {
  /** Whether ignored files are listed, each by name. `matching`: a directory that a pattern names stands for all that is in it. */
  readonly ignored: boolean | 'matching';
  readonly path?: LiteralPath;
  /** Absolute path of the ignore file of the server's user; its patterns keep private files out of lists and commits. */
  readonly excludesFile?: string;
}

/**
 * The reads: one row a command, whose options are its own and whose data are typed values behind `--end-of-options` or `--`. None
 * takes a lock, writes, or speaks to another machine. Records end with NUL, or hold no byte that could end one.
 */
export const readCommands = {
  /** Five fields a line, NUL between them: full name, object, target when symbolic, time of a commit in seconds since 1970, upstream. */
  branches: (place: PinnedPlace): GitCommand =>
    makeCommand('branches', history, place, {
      words: [
        'for-each-ref',
        `--format=${branchFields}`,
        '--end-of-options',
        'refs/heads/',
        'refs/remotes/origin/',
      ],
    }),

  /** Full names of the refs below a prefix of our own, one a line. */
  privateRefs: (place: PinnedPlace, prefix: `refs/workspace-authority/${string}`): GitCommand =>
    makeCommand('private-refs', history, place, {
      words: ['for-each-ref', '--format=%(refname)', '--end-of-options', prefix],
    }),

  /** Two fields a line, NUL between them: full name, and how it stands to its upstream, as `ahead 1, behind 2` or a part of that. */
  tracking: (place: PinnedPlace, branches: readonly RefName[]): GitCommand =>
    makeCommand('tracking', history, place, {
      words: ['for-each-ref', `--format=${trackingFields}`, '--end-of-options', ...branches],
    }),

  /**
   * Six fields a line, NUL between them: full name, object and its type, object that a tag leads to and its type, full name of the
   * upstream. Prints the refs below the names as well.
   */
  refTips: (place: PinnedPlace, refs: readonly RefName[]): GitCommand =>
    makeCommand('ref-tips', history, place, {
      words: ['for-each-ref', `--format=${tipFields}`, '--end-of-options', ...refs],
    }),

  /** The commit that a name leads to, through annotated tags; exit status 1 when there is none. */
  resolveCommit: (place: PinnedPlace, revision: CommitOid | RefName | 'HEAD'): GitCommand =>
    makeCommand('resolve-commit', history, place, {
      words: ['rev-parse', '--verify', '--quiet', '--end-of-options', `${revision}^{commit}`],
    }),

  /** The tree of a commit. */
  treeOf: (place: PinnedPlace, commit: CommitOid): GitCommand =>
    makeCommand('tree-of', history, place, {
      words: ['rev-parse', '--verify', '--quiet', '--end-of-options', `${commit}^{tree}`],
    }),

  /** The best common ancestor; exit status 1 when there is none. */
  mergeBase: (place: PinnedPlace, one: CommitOid, other: CommitOid): GitCommand =>
    makeCommand('merge-base', history, place, { words: ['merge-base', '--end-of-options', one, other] }),

  /** Exit status 0 or 1. A commit is its own ancestor. */
  isAncestor: (place: PinnedPlace, ancestor: CommitOid, descendant: CommitOid): GitCommand =>
    makeCommand('is-ancestor', history, place, {
      words: ['merge-base', '--is-ancestor', '--end-of-options', ancestor, descendant],
    }),

  /** Two numbers: commits that only the left side reaches, and only the right one. */
  divergence: (place: PinnedPlace, left: CommitOid, right: CommitOid): GitCommand =>
    makeCommand('divergence', history, place, {
      words: ['rev-list', '--left-right', '--count', '--end-of-options', `${left}...${right}`, '--'],
    }),

  /** `sha1` or `sha256`. */
  objectFormat: (place: PinnedPlace): GitCommand =>
    makeCommand('object-format', history, place, { words: ['rev-parse', '--show-object-format'] }),

  /** Object names, one a line. */
  commitNames: (place: PinnedPlace, range: CommitRange): GitCommand =>
    makeCommand('commit-names', history, place, {
      words: ['rev-list', ...rangeWords(range)],
    }),

  /** Five fields a commit, NUL after each: name, parents, author, time of authorship in seconds since 1970, subject in UTF-8. */
  commits: (place: PinnedPlace, range: CommitRange): GitCommand =>
    makeCommand('commits', history, place, {
      words: [
        'log',
        '-z',
        `--format=tformat:${commitFields}`,
        '--encoding=UTF-8',
        '--no-show-signature',
        '--no-notes',
        '--no-decorate',
        '--no-color',
        '--no-patch',
        ...rangeWords(range),
      ],
    }),

  /** Scope, then key and value with a newline between them, of each setting; NUL after both. Includes are followed. */
  configuration: (place: PinnedPlace): GitCommand =>
    makeCommand('configuration', commandClasses.proof, place, {
      words: ['config', '--list', '-z', '--show-scope', '--includes'],
    }),

  /** `--raw -z` records, an empty one, and the patch, between two stored trees. */
  diffCommits: (
    place: PinnedPlace,
    from: CommitOid | EmptyTree,
    to: CommitOid,
    options: DiffOptions = {},
  ): GitCommand =>
    makeCommand('diff-commits', patch, place, {
      settings: diffSettings,
      words: ['diff', ...diffWords(options), '--end-of-options', from, to, ...pathWords(options.path)],
    }),

  /** The same between a stored tree and the files as they are; untracked ones are not looked at. */
  diffWorkTree: (
    place: ClearedPlace<'work-tree'>,
    from: CommitOid | EmptyTree,
    options: DiffOptions = {},
  ): GitCommand =>
    makeCommand('diff-work-tree', patch, place, {
      settings: [...diffSettings, ...place.settings],
      words: ['diff', ...diffWords(options), '--end-of-options', from, ...pathWords(options.path)],
    }),

  /** Letter and name, NUL after each, of what the other tree has or has not beside the first one: `A` or `D`. A change of kind is none. */
  nameChanges: (place: PinnedPlace, from: CommitOid, to: ObjectOid): GitCommand =>
    makeCommand('name-changes', content, place, {
      words: [
        'diff-tree',
        '-r',
        '-z',
        '--name-status',
        '--no-renames',
        '--diff-filter=AD',
        '--end-of-options',
        from,
        to,
        '--',
      ],
    }),

  /** A pack of exactly these objects, whole: with none that they are stored as differences from. */
  packObjects: (place: PinnedPlace, oids: readonly ObjectOid[]): GitCommand =>
    makeCommand('pack-objects', content, place, {
      words: ['pack-objects', '--stdout', '-q', '--delta-base-offset', '--threads=1', '--window=0'],
      input: Buffer.from(oids.map((oid) => `${oid}\n`).join('')),
    }),

  /** Names of all files that are not tracked below some directories, ignored ones included, NUL after each. */
  untrackedBelow: (place: PinnedPlace, directories: readonly string[]): GitCommand =>
    makeCommand('untracked-below', content, place, {
      words: ['ls-files', '-z', '--others', '--', ...directories],
    }),

  /**
   * Names of files that are neither tracked nor ignored, NUL after each; a repository that lies among them is one name that ends with `/`.
   */
  untracked: (
    place: ClearedPlace<'work-tree'>,
    { path, excludesFile }: Omit<StatusOptions, 'ignored'> = {},
  ): GitCommand =>
    makeCommand('untracked', patch, place, {
      settings: [...place.settings, ...excludesSettings(excludesFile)],
      words: ['ls-files', '-z', '--others', '--exclude-standard', ...pathWords(path)],
    }),

  /** Porcelain v2 with branch headers (git-status(1)); untracked files each by name (W7), renames as a deletion and an addition. */
  status: (place: ClearedPlace<'work-tree'>, { ignored, path, excludesFile }: StatusOptions): GitCommand =>
    makeCommand('status', content, place, {
      settings: [...place.settings, ...excludesSettings(excludesFile)],
      words: [
        'status',
        '--porcelain=v2',
        '-z',
        '--branch',
        '--ahead-behind',
        '--no-show-stash',
        '--no-renames',
        '--untracked-files=all',
        `--ignored=${ignoredMode(ignored)}`,
        '--ignore-submodules=dirty',
        // Not both ends: after `--end-of-options` this Git takes `--` for a path.
        ...pathWords(path),
      ],
    }),

  /** One record a file between a stored tree and the files as they are (git-diff(1), `--numstat`); untracked ones are not looked at. */
  diffNumbers: (place: ClearedPlace<'work-tree'>, from: CommitOid | EmptyTree): GitCommand =>
    makeCommand('diff-numbers', content, place, {
      settings: [...diffSettings, ...place.settings],
      words: ['diff', ...diffNumberArguments, '--end-of-options', from, '--'],
    }),
} as const;

const branchFields = fieldsOf('refname', 'objectname', 'symref', 'committerdate:unix', 'upstream');

const trackingFields = fieldsOf('refname', 'upstream:track,nobracket');

const tipFields = fieldsOf('refname', 'objectname', 'objecttype', '*objectname', '*objecttype', 'upstream');

const commitFields = ['%H', '%P', '%an', '%at', '%s'].join('%x00');

function fieldsOf(...names: readonly string[]): string {
  return names.map((name) => `%(${name})`).join('%00');
}

const largestLimit = 100_000;

function rangeWords({ tip, excluded, limit }: CommitRange): string[] {
  if (!Number.isInteger(limit) || limit < 1 || limit > largestLimit)
    throw new RangeError('no limit of commits');
  return [`--max-count=${limit}`, '--end-of-options', tip, ...excluded.map((oid) => `^${oid}`), '--'];
}

function diffWords({ ignoreWhitespace = false }: DiffOptions): string[] {
  return [...diffArguments, ...(ignoreWhitespace ? ['--ignore-all-space'] : [])];
}

function pathWords(path: LiteralPath | undefined): string[] {
  return path === undefined ? ['--'] : ['--', path];
}

function ignoredMode(ignored: StatusOptions['ignored']): string {
  if (ignored === 'matching') return ignored;
  return ignored ? 'traditional' : 'no';
}

function excludesSettings(file: string | undefined): string[] {
  if (file === undefined) return [];
  if (!file.startsWith('/') || file.includes('\0')) throw new TypeError('not an absolute path');
  return [`core.excludesFile=${file}`];
}
