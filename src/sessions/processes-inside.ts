import { readdir, readlink, stat } from 'node:fs/promises';
import { guardUnavailable } from './check-sessions.ts';
import { isAtOrBelow, type OccupiedDirectory } from './occupied-directory.ts';

export interface ProcessesInside {
  /** Ids of the processes that work in the directory or below it, in ascending order. */
  readonly inside: readonly number[];
  /** Processes of this user of which that cannot be told, though the kernel would let it be. */
  readonly unreadable: number;
}

const atOnce = 16;
/** What proc(5) appends to the path of a directory that was removed. */
const deletedMark = ' (deleted)';

/** It ended meanwhile (a zombie has no working directory either), is a thread of the kernel, or has more privileges. */
const notOurs = new Set(['ENOENT', 'ESRCH', 'EACCES', 'EPERM']);

/**
 * Processes of this user (as root: of everybody) whose working directory is in the directory, by proc(5).
 *
 * Not promised: processes of other PID namespaces or users, those with privileges that this process lacks (ptrace(2), access mode
 * checking: an init outside a container, a program that may not be looked into), those that only hold files open, and whoever comes a moment later.
 * @throws `session_guard_unavailable` where /proc cannot be listed
 */
export async function findProcessesInside(
  directory: OccupiedDirectory,
  proc = '/proc',
): Promise<ProcessesInside> {
  let names: readonly string[];
  try {
    names = await readdir(proc);
  } catch (error) {
    throw guardUnavailable('the processes cannot be listed', error);
  }
  const ids = names.filter((name) => /^\d+$/.test(name));
  // Where this very process is missing, others are too.
  if (!ids.includes(String(process.pid))) throw guardUnavailable('the list of processes is not complete');
  const inside: number[] = [];
  let unreadable = 0;
  const rest = ids.values();
  const worker = async (): Promise<void> => {
    for (const id of rest) {
      const found = await isInside(`${proc}/${id}`, directory);
      if (found === null) unreadable += 1;
      else if (found) inside.push(Number(id));
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return { inside: inside.sort((left, right) => left - right), unreadable };
}

/** Null: it cannot be told. */
async function isInside(entry: string, { paths, place }: OccupiedDirectory): Promise<boolean | null> {
  try {
    const { uid } = await stat(entry);
    const self = process.geteuid?.();
    if (self !== 0 && uid !== self) return false;
    const path = await readlink(`${entry}/cwd`);
    const plain = path.endsWith(deletedMark) ? path.slice(0, -deletedMark.length) : path;
    if (paths.some((root) => isAtOrBelow(path, root) || isAtOrBelow(plain, root))) return true;
    const facts = await stat(`${entry}/cwd`, { bigint: true });
    return facts.dev === place.device && facts.ino === place.inode;
  } catch (error) {
    return notOurs.has((error as NodeJS.ErrnoException).code ?? '') ? false : null;
  }
}
