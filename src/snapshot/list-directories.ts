import type { DirectoryHandle } from '../capability/handles.ts';

export interface DirectoryNames {
  /** In Latin-1, `.git` left out. */
  readonly directories: readonly string[];
  /** Whether there is a `.git`, of whatever type. */
  readonly administrative: boolean;
}

/** A directory with more entries than this changes too often for a watch to be worth it. */
const mostEntries = 100_000;

const directoryType = 1;

/** Null when there are too many entries. @throws errno */
export async function listDirectories(directory: DirectoryHandle): Promise<DirectoryNames | null> {
  const { names, types, more } = await directory.list('.', { rootPath: '/', limit: mostEntries }, null);
  if (more) return null;
  const entries = Buffer.from(names.buffer, names.byteOffset, names.byteLength)
    .toString('latin1')
    .split('\0');
  entries.pop();
  return {
    directories: entries.filter((name, index) => types[index] === directoryType && name !== '.git'),
    administrative: entries.includes('.git'),
  };
}
