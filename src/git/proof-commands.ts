import { type CommandPlace, commandClasses, makeCommand } from './command-class.ts';
import type { GitCommand } from './run-git.ts';
import { isFullRefName } from './values.ts';

export type { CommandPlace } from './command-class.ts';

const kibibyte = 1024;

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
  words: readonly string[],
  place: CommandPlace,
  outputLimitBytes: number,
): GitCommand {
  return makeCommand(name, { ...commandClasses.proof, outputLimitBytes }, place, { words });
}
