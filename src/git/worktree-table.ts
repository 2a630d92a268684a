import type { RepositoryCapability } from '../capability/repository-capability.ts';
import { malformedOutput, runExpecting } from './expect-success.ts';
import { type Head, shortNameBelow } from './head.ts';
import { pinnedPlace } from './pinned-place.ts';
import { proofCommands } from './proof-commands.ts';
import type { GitRunner } from './run-git.ts';
import { readSymbolicFile } from './symbolic-file.ts';

/** What is checked out in a worktree. */
export interface WorktreeHead {
  /** Short name of the branch, born or not; null when HEAD is detached or points outside refs/heads. */
  readonly branch: string | null;
  readonly detached: boolean;
  /** Full object name; null on an unborn branch, and where the branch came up only after the list was made. */
  readonly oid: string | null;
}

/** Git's worktree list at one moment (git-worktree(1)). It says what to look at and proves nothing. */
export interface WorktreeTable {
  /**
   * Paths of the linked worktrees in Git's order, locked ones included. Left out: prunable ones, and those whose path is not UTF-8 or holds
   * control characters, which nobody ever acts on. The main checkout is left out as well, since Git only guesses its path.
   */
  readonly linked: readonly string[];
  /** Reads HEAD of a proven worktree of the same repository through its own handles. Null when it is gone or malformed. */
  headOf(capability: RepositoryCapability): Promise<WorktreeHead | null>;
}

/**
 * Asks Git for the worktree list, pinned to the held directories of any checkout of the repository.
 * @throws `git_failed` (details.reason also: `exit-status` | `malformed-output`) | `aborted` | `shutting_down`
 */
export async function readWorktreeTable(
  capability: RepositoryCapability,
  git: GitRunner,
  signal?: AbortSignal,
): Promise<WorktreeTable> {
  const command = proofCommands.worktreeList(pinnedPlace(capability));
  const rows = parseWorktreeRows(await runExpecting(git, command, signal));
  if (rows === null) throw malformedOutput(command);
  const oids = new Map(rows.flatMap(({ ref, oid }) => (ref === null || oid === null ? [] : [[ref, oid]])));
  return {
    linked: rows.slice(1).flatMap(({ path, prunable }) => (path === null || prunable ? [] : [path])),
    headOf: async ({ repository }) => {
      const head = await readSymbolicFile(repository.gitDirectory, 'HEAD');
      return head && describeHead(head, oids);
    },
  };
}

/** One row. Refs are Latin-1, so that they stand for exactly Git's bytes. */
export interface WorktreeRow {
  /** Null when it cannot be told as text, or not safely. */
  readonly path: string | null;
  readonly ref: string | null;
  readonly oid: string | null;
  readonly prunable: boolean;
}

/**
 * Reads `worktree list --porcelain -z`: fields end with NUL and rows with an empty field, so that no byte of a path or of a lock's reason
 * can begin another row (W41). The first row is the main checkout. Null when the output has another form.
 */
export function parseWorktreeRows(output: Buffer): readonly WorktreeRow[] | null {
  const text = output.toString('latin1');
  if (!text.endsWith('\0\0')) return null;
  const rows = text.slice(0, -2).split('\0\0').map(parseRow);
  return rows.every((row) => row !== null) ? rows : null;
}

function parseRow(text: string): WorktreeRow | null {
  const [first = '', ...attributes] = text.split('\0');
  if (!first.startsWith('worktree ')) return null;
  const attributeOf = (label: string) =>
    attributes.find((attribute) => attribute.startsWith(`${label} `))?.slice(label.length + 1) ?? null;
  const oid = attributeOf('HEAD');
  return {
    path: decodePath(first.slice('worktree '.length)),
    ref: attributeOf('branch'),
    // What Git prints for an unborn branch.
    oid: oid === null || /^0+$/.test(oid) ? null : oid,
    prunable: attributes.some((attribute) => /^prunable(?: |$)/.test(attribute)),
  };
}

function decodePath(latin1: string): string | null {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for.
  if (/[\x00-\x1f\x7f]/.test(latin1)) return null;
  const bytes = Buffer.from(latin1, 'latin1');
  const text = bytes.toString('utf8');
  return Buffer.from(text).equals(bytes) ? text : null;
}

function describeHead(head: Head, oids: ReadonlyMap<string, string>): WorktreeHead {
  if (head.kind === 'detached') return { branch: null, detached: true, oid: head.oid };
  const branch = shortNameBelow('refs/heads/', head.ref);
  return { branch, detached: false, oid: oids.get(head.ref) ?? null };
}
