import { type ProofReadPlace, proofReadEnvironment } from './environment.ts';
import { fixedArguments } from './fixed-arguments.ts';
import type { GitCommand } from './run-git.ts';

/** Where a command runs: the directory it starts in, as the descriptor path of a held handle, and what it may find from there. */
export interface CommandPlace extends ProofReadPlace {
  readonly directory: string;
}

/** What all commands of one kind may use up. */
export type CommandClass = Pick<
  GitCommand,
  'deadlineMs' | 'dataLimitBytes' | 'outputLimitBytes' | 'network' | 'background'
>;

type CommandClassName =
  | 'proof'
  | 'history'
  | 'content'
  | 'patch'
  | 'change'
  | 'merge'
  | 'fetch'
  | 'backgroundFetch'
  | 'push';

const mebibyte = 1024 * 1024;

/**
 * - `proof` answers in milliseconds; what takes seconds is stuck on a file that was made to be stuck on. Git reads some small files of a
 *   repository whole, however large they were made.
 * - `history` walks refs and commits, and prints a bounded record for each.
 * - `patch` is `content` whose output is read as it comes, so that only its length costs time.
 * - `content` reads blobs and the work tree. Git holds both sides of a file in memory, up to core.bigFileThreshold of 512 MiB each.
 * - `change` writes objects, the index or refs, and says little.
 * - `merge` is `change` that says as much as there are conflicts.
 * - `fetch` and `push` wait for another machine. `backgroundFetch` lets those go first that somebody asked for.
 */
export const commandClasses: Readonly<Record<CommandClassName, CommandClass>> = {
  proof: { deadlineMs: 5000, dataLimitBytes: 256 * mebibyte, outputLimitBytes: 8 * mebibyte },
  history: { deadlineMs: 30_000, dataLimitBytes: 1024 * mebibyte, outputLimitBytes: 32 * mebibyte },
  content: { deadlineMs: 60_000, dataLimitBytes: 2048 * mebibyte, outputLimitBytes: 64 * mebibyte },
  patch: { deadlineMs: 60_000, dataLimitBytes: 2048 * mebibyte, outputLimitBytes: 2048 * mebibyte },
  change: { deadlineMs: 120_000, dataLimitBytes: 2048 * mebibyte, outputLimitBytes: mebibyte },
  merge: { deadlineMs: 120_000, dataLimitBytes: 2048 * mebibyte, outputLimitBytes: 64 * mebibyte },
  fetch: { deadlineMs: 120_000, dataLimitBytes: 2048 * mebibyte, outputLimitBytes: mebibyte, network: true },
  backgroundFetch: {
    deadlineMs: 120_000,
    dataLimitBytes: 2048 * mebibyte,
    outputLimitBytes: mebibyte,
    network: true,
    background: true,
  },
  push: { deadlineMs: 180_000, dataLimitBytes: 2048 * mebibyte, outputLimitBytes: mebibyte, network: true },
};

export interface CommandParts {
  /** The subcommand and what follows it. */
  readonly words: readonly string[];
  /** More settings, after the fixed ones, so that they win over them. */
  readonly settings?: readonly string[];
  readonly input?: Uint8Array;
  /** More variables, which win over those of a proof read. */
  readonly environment?: Readonly<Record<string, string>>;
}

/** Puts a row of a table together. Only tables call it: `words` hold nothing but their own text and typed values. */
export function makeCommand(
  name: string,
  limits: CommandClass,
  place: CommandPlace,
  { words, settings = [], input, environment = {} }: CommandParts,
): GitCommand {
  return {
    name,
    arguments: [...fixedArguments, ...settings.flatMap((setting) => ['-c', setting]), ...words],
    environment: { ...proofReadEnvironment(place), ...environment },
    directory: place.directory,
    ...limits,
    ...(input === undefined ? {} : { input }),
  };
}
