import { lstat, readlink } from 'node:fs/promises';

/** What stands under a canonical path whose parents are directories. */
export type DirectoryEntry =
  | { readonly kind: 'directory'; readonly inode: bigint; readonly device: bigint }
  | { readonly kind: 'link'; readonly target: string }
  /** Nothing, or something that leads nowhere. */
  | { readonly kind: 'no-directory' }
  | { readonly kind: 'unreadable'; readonly reason: string };

/** Looks at one name at a time. */
export interface DirectoryLookup {
  entry(path: string): Promise<DirectoryEntry>;
}

/** A lookup takes microseconds, unless a network or automatic mount stands in the way. */
const defaultDeadlineMs = 2_000;

/**
 * A recorded directory may lie on a mount that never answers. Such a lookup costs one thread of the pool and one deadline: until it ends,
 * nothing at or below that path is looked up again, and the places there are unknown.
 */
export function createDirectoryLookup(
  look: (path: string) => Promise<DirectoryEntry> = lookAt,
  deadlineMs: number = defaultDeadlineMs,
): DirectoryLookup {
  const stuck = new Set<string>();
  const silent: DirectoryEntry = { kind: 'unreadable', reason: 'the file system does not answer' };
  return {
    async entry(path) {
      for (const place of stuck) if (path === place || path.startsWith(`${place}/`)) return silent;
      const looking = look(path);
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<DirectoryEntry>((resolve) => {
        timer = setTimeout(() => {
          stuck.add(path);
          const free = (): void => void stuck.delete(path);
          looking.then(free, free);
          resolve(silent);
        }, deadlineMs);
      });
      try {
        return await Promise.race([looking, late]);
      } finally {
        clearTimeout(timer);
      }
    },
  };
}

/** The same, with each name looked at once. */
export function rememberLookups(lookup: DirectoryLookup): DirectoryLookup {
  const known = new Map<string, Promise<DirectoryEntry>>();
  return {
    entry(path) {
      let entry = known.get(path);
      if (entry === undefined) {
        entry = lookup.entry(path);
        known.set(path, entry);
      }
      return entry;
    },
  };
}

async function lookAt(path: string): Promise<DirectoryEntry> {
  try {
    const facts = await lstat(path, { bigint: true });
    if (facts.isDirectory()) return { kind: 'directory', inode: facts.ino, device: facts.dev };
    if (!facts.isSymbolicLink()) return { kind: 'no-directory' };
    const target = await readlink(path, { encoding: 'buffer' });
    const text = target.toString('utf8');
    if (Buffer.from(text).equals(target)) return { kind: 'link', target: text };
    return { kind: 'unreadable', reason: 'a link leads to a name that is not UTF-8' };
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    if (code === 'ENOENT' || code === 'ENOTDIR') return { kind: 'no-directory' };
    return { kind: 'unreadable', reason: code };
  }
}
