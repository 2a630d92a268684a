import type { DirectoryHandle } from '../capability/handles.ts';
import { codeOf, refusalOf } from '../capability/refusal.ts';
import type { RepositoryCapability } from '../capability/repository-capability.ts';
import { malformedOutput, runExpecting } from './expect-success.ts';
import { pinnedPlace } from './pinned-place.ts';
import { readCommands } from './read-commands.ts';
import type { GitRunner } from './run-git.ts';
import type { CommitOid, ObjectOid } from './values.ts';

/** What stands at a name where a file is about to be made. */
type Occupant = { readonly kind: 'none' } | { readonly kind: 'directory' | 'other'; readonly path: string };

/** Directories asked about in one command. */
const namesAtOnce = 200;

/** How a name looks below something that is no directory of the work tree. */
const blocked = new Set(['ENOTDIR', 'ELOOP', 'EXDEV']);

/**
 * Untracked files that would be lost when files and index go from one tree to the other, in Latin-1. Ignored ones count: Git takes them
 * for expendable and overwrites them without a word (gitignore(5)), but nobody can bring them back (W8). The work tree has no other change.
 * @throws `git_failed` | `storage_failed` | `too_many_open_files` | `aborted` | `shutting_down`
 */
export async function findOccupied(
  git: GitRunner,
  capability: RepositoryCapability,
  { from, to }: { readonly from: CommitOid; readonly to: ObjectOid },
  signal?: AbortSignal,
): Promise<readonly string[]> {
  const place = pinnedPlace(capability);
  const command = readCommands.nameChanges(place, from, to);
  const changes = parseNameChanges(await runExpecting(git, command, signal));
  if (changes === null) throw malformedOutput(command);
  const occupied = new Set<string>();
  const directories = new Set<string>();
  for (const path of changes.added) {
    const occupant = await occupantOf(capability.held.directory, path);
    // What is tracked and goes away makes room.
    if (occupant.kind === 'other' && !changes.removed.has(occupant.path)) occupied.add(occupant.path);
    if (occupant.kind === 'directory') (isText(occupant.path) ? directories : occupied).add(occupant.path);
  }
  const names = [...directories];
  for (let start = 0; start < names.length; start += namesAtOnce) {
    const some = names.slice(start, start + namesAtOnce).map(decode);
    const listed = await runExpecting(git, readCommands.untrackedBelow(place, some), signal);
    for (const path of listed.toString('latin1').split('\0').slice(0, -1)) occupied.add(path);
  }
  return [...occupied].sort();
}

/** Null when the output is not that of `nameChanges`. */
export function parseNameChanges(
  output: Buffer,
): { readonly added: readonly string[]; readonly removed: ReadonlySet<string> } | null {
  const fields = output.toString('latin1').split('\0');
  if (fields.pop() !== '' || fields.length % 2 !== 0) return null;
  const added: string[] = [];
  const removed = new Set<string>();
  for (let field = 0; field < fields.length; field += 2) {
    const [letter, path = ''] = fields.slice(field, field + 2);
    if (letter === 'A') added.push(path);
    else if (letter === 'D') removed.add(path);
    else return null;
  }
  return { added, removed };
}

async function occupantOf(root: DirectoryHandle, path: string): Promise<Occupant> {
  const found = await look(root, path);
  if (found !== 'blocked') return found;
  for (let slash = path.indexOf('/'); slash !== -1; slash = path.indexOf('/', slash + 1)) {
    const ancestor = await look(root, path.slice(0, slash));
    if (ancestor === 'blocked') return { kind: 'other', path: path.slice(0, slash) };
    if (ancestor.kind !== 'directory') return ancestor;
  }
  // It was in the way a moment ago.
  return { kind: 'other', path };
}

async function look(root: DirectoryHandle, path: string): Promise<Occupant | 'blocked'> {
  try {
    const { type } = await root.stat(Buffer.from(path, 'latin1'), null);
    return { kind: type === 'directory' ? 'directory' : 'other', path };
  } catch (error) {
    const code = codeOf(error) ?? '';
    if (code === 'ENOENT') return { kind: 'none' };
    if (blocked.has(code)) return 'blocked';
    throw refusalOf(error);
  }
}

/** Whether it can be said in an argument; what cannot be asked about counts as occupied. */
function isText(latin1: string): boolean {
  return Buffer.from(decode(latin1)).equals(Buffer.from(latin1, 'latin1'));
}

function decode(latin1: string): string {
  return Buffer.from(latin1, 'latin1').toString('utf8');
}
