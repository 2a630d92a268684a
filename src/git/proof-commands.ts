import { type ProofReadPlace, proofReadEnvironment } from './environment.ts';
import { fixedArguments } from './fixed-arguments.ts';
import type { GitCommand } from './run-git.ts';
import { isFullRefName } from './values.ts';

/** A proof read answers in milliseconds; what takes seconds is stuck on a file that was made to be stuck on. */
const deadlineMs = 5000;

/** Git reads some small files of a repository whole, however large they were made. */
const dataLimitBytes = 256 * 1024 * 1024;

const kibibyte = 1024;

/** Where a command runs: the directory it starts in, as the descriptor path of a held handle, and what it may find from there. */
export interface CommandPlace extends ProofReadPlace {
  readonly directory: string;
}

/**
 * The proof reads: commands that print facts about a repository, start no program and change nothing. Each is one row; no text of a
 * caller reaches an argument except full ref names, which cannot begin with a dash.
 */
export const proofCommands = {
  version: (): GitCommand =>
    command('version', ['version'], { directory: '/', ceilingDirectory: '/' }, 4 * kibibyte),

  /** Five lines: top level, Git dir, common dir (all absolute), whether bare, whether inside the work tree. */
  locate: (place: CommandPlace): GitCommand =>
    command(
      'locate',
      [
        'rev-parse',
        '--path-format=absolute',
        '--show-toplevel',
        '--absolute-git-dir',
        '--git-common-dir',
        '--is-bare-repository',
        '--is-inside-work-tree',
      ],
      place,
      32 * kibibyte,
    ),

  /** A worktree with a name of full length takes about 8 KiB. */
  worktreeList: (place: CommandPlace): GitCommand =>
    command('worktree-list', ['worktree', 'list', '--porcelain', '-z'], place, 8192 * kibibyte),

  /** Scope and key of each setting of the repository itself, NUL-separated; includes are followed. */
  configurationKeys: (place: CommandPlace): GitCommand =>
    command(
      'configuration-keys',
      ['config', '--list', '-z', '--show-scope', '--name-only'],
      place,
      4096 * kibibyte,
    ),

  /** The target of a symbolic ref; exit status 1 when the ref is not symbolic. */
  symbolicRef: (place: CommandPlace, ref: 'HEAD' | `refs/${string}`): GitCommand =>
    command(
      'symbolic-ref',
      ['symbolic-ref', '--quiet', ref === 'HEAD' ? ref : fullRef(ref)],
      place,
      8 * kibibyte,
    ),

  /** Which of the given refs exist, one full name a line; also refs below them, so the caller compares whole names. */
  existingRefs: (place: CommandPlace, refs: readonly string[]): GitCommand =>
    command(
      'existing-refs',
      ['for-each-ref', '--format=%(refname)', ...refs.map(fullRef)],
      place,
      1024 * kibibyte,
    ),
} as const;

function fullRef(ref: string): string {
  if (!isFullRefName(ref)) throw new TypeError('not a full ref name');
  return ref;
}

function command(
  name: string,
  args: readonly string[],
  place: CommandPlace,
  outputLimitBytes: number,
): GitCommand {
  return {
    name,
    arguments: [...fixedArguments, ...args],
    environment: proofReadEnvironment(place),
    directory: place.directory,
    deadlineMs,
    dataLimitBytes,
    outputLimitBytes,
  };
}
