import type { DirectoryLookup } from './directory-lookup.ts';

/** Where a recorded path leads now. */
export type FollowedPlace =
  | {
      /** The path without links; from the first name on that is gone, as it is spelled. */
      readonly canonical: string;
      /** Device and inode of it and of all directories above that still exist, as `placeKey` prints them. */
      readonly inodes: ReadonlySet<string>;
    }
  | { readonly unknown: string };

/** As the kernel counts (path_resolution(7)). */
const mostLinks = 40;
const longestPathBytes = 4095;

/**
 * Follows an absolute path name by name, as the kernel would; unlike realpath(3) it also says where a directory stood that is gone, or where a
 * link leads whose target is.
 */
export async function followPlace(path: string, lookup: DirectoryLookup): Promise<FollowedPlace> {
  const malformed = malformation(path);
  if (malformed !== null) return { unknown: malformed };
  const root = await lookup.entry('/');
  if (root.kind !== 'directory') return { unknown: 'the root directory cannot be read' };
  const walked: WalkedName[] = [{ path: '', key: placeKey(root) }];
  const rest = path.split('/');
  let links = 0;
  for (let name = rest.shift(); name !== undefined; name = rest.shift()) {
    if (name === '' || name === '.') continue;
    if (name === '..') {
      if (walked.length > 1) walked.pop();
      continue;
    }
    const next = `${walked.at(-1)?.path}/${name}`;
    const entry = await lookup.entry(next);
    switch (entry.kind) {
      case 'directory':
        walked.push({ path: next, key: placeKey(entry) });
        break;
      case 'link':
        links += 1;
        if (links > mostLinks) return { unknown: 'a loop of symbolic links' };
        if (entry.target.startsWith('/')) walked.length = 1;
        rest.unshift(...entry.target.split('/'));
        break;
      case 'no-directory':
        // What `..` would have led to depends on what stood there.
        if (rest.includes('..')) return { unknown: 'leads up from a directory that is gone' };
        return followed([next, ...rest.filter((part) => part !== '' && part !== '.')].join('/'), walked);
      case 'unreadable':
        return { unknown: entry.reason };
    }
  }
  return followed(walked.at(-1)?.path || '/', walked);
}

/** One text for one directory, for sets. */
export function placeKey({ device, inode }: { readonly device: bigint; readonly inode: bigint }): string {
  return `${device}:${inode}`;
}

interface WalkedName {
  readonly path: string;
  readonly key: string;
}

function followed(canonical: string, walked: readonly WalkedName[]): FollowedPlace {
  return { canonical, inodes: new Set(walked.map(({ key }) => key)) };
}

function malformation(path: string): string | null {
  if (!path.startsWith('/')) return 'is not an absolute path';
  if (path.includes('\0')) return 'contains NUL';
  if (!path.isWellFormed()) return 'contains a lone surrogate';
  if (Buffer.byteLength(path) > longestPathBytes) return 'is longer than a path can be';
  return null;
}
