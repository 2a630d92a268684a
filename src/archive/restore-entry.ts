import { randomBytes } from 'node:crypto';
import { isClosed } from '../capability/closed-names.ts';
import type { DirectoryHandle, NativeEntry } from '../capability/handles.ts';
import { codeOf, refusalOf } from '../capability/refusal.ts';
import { Transactions } from '../capability/transaction-name.ts';
import type { ArchiveEntry, RestorePlace } from './archives.ts';
import { createHeldFile, createHeldLink } from './held-names.ts';
import { bytesOf, shownPath, splitPath } from './latin-path.ts';
import { sameContent } from './same-content.ts';

export interface RestoreOptions {
  /**
   * Whether what stands under a path (Latin-1) holds nothing that would be lost; asked only where it differs from the entry. Without it
   * nothing is ever replaced.
   */
  readonly mayReplace?: (path: string, standing: NativeEntry) => Promise<boolean>;
  /** Called right before each change of a name. What it throws ends the restoration. */
  readonly assertCurrent?: () => Promise<void>;
}

/**
 * - `restored`: it stands there as it was kept
 * - `present`: it stood there already
 * - `in-the-way`: something else stands there, or something that is no directory stands above it; nothing was changed
 * - `refused`: the place may not be written (details in `code`)
 */
export interface RestoredEntry {
  readonly area: string;
  /** Latin-1. */
  readonly path: string;
  readonly outcome: 'restored' | 'present' | 'in-the-way' | 'refused';
  /** Error code of what was refused. */
  readonly code?: string;
}

/** Set-id and sticky bits are never given to new files (decisions 3). */
const restoredBits = 0o777;
const ownerCanList = 0o700;
const transactions = new Transactions();

/** @throws `state_unavailable` (the archive is damaged) | `no_space` | what `assertCurrent` throws */
export async function restoreEntry(
  place: RestorePlace,
  entry: ArchiveEntry,
  content: () => AsyncIterable<Uint8Array>,
  options: RestoreOptions,
): Promise<RestoredEntry> {
  const { area, path } = entry;
  const { parent, name } = splitPath(path);
  // One by one: what a held root has, it has by accessors.
  const standing: Standing = { directory: place.directory, guard: place.guard, ...options };
  try {
    const { confinement } = place;
    if (confinement && path.split('/').some((part) => isClosed(shownPath(part), confinement))) {
      return { area, path, outcome: 'refused', code: 'administrative_path' };
    }
    await place.guard?.check(bytesOf(path)).catch(unlessAbsent);
    if (!(await makeDirectories(standing, parent))) return { area, path, outcome: 'in-the-way' };
    if (entry.type === 'directory') return { area, path, outcome: await restoreDirectory(standing, entry) };
    const directory = await place.directory.openDirectory(bytesOf(parent));
    try {
      const target = { ...standing, parent: directory, name };
      return { area, path, outcome: await restoreContent(target, entry, content) };
    } finally {
      directory.close();
    }
  } catch (error) {
    const code = codeOf(error) ?? '';
    if (blocked.has(code)) return { area, path, outcome: 'in-the-way' };
    if (forbidden.has(code)) return { area, path, outcome: 'refused', code: refusalOf(error).code };
    throw refusalOf(error);
  }
}

/** How a path looks below something that is no directory, and a name that was taken meanwhile. */
const blocked = new Set(['ENOTDIR', 'ELOOP', 'EEXIST', 'EISDIR', 'EXDEV']);
const forbidden = new Set(['EACCES', 'EPERM', 'EROFS', 'WA_CLOSED_DIRECTORY', 'ENAMETOOLONG']);

type Standing = RestorePlace & RestoreOptions;
type Target = Standing & { readonly parent: DirectoryHandle; readonly name: string };

/** False when something that is no directory stands in the way. */
async function makeDirectories(
  { directory, guard, assertCurrent }: Standing,
  path: string,
): Promise<boolean> {
  if (path === '.') return true;
  for (let end = path.indexOf('/'); ; end = path.indexOf('/', end + 1)) {
    const some = end === -1 ? path : path.slice(0, end);
    const found = await lookAt(directory, some);
    if (found === null) {
      await assertCurrent?.();
      await directory.makeDirectory(bytesOf(some), restoredBits, guard).catch(unlessPresent);
    } else if (found.type !== 'directory') return false;
    if (end === -1) return true;
  }
}

async function restoreDirectory(
  place: Standing,
  { path, mode }: ArchiveEntry,
): Promise<RestoredEntry['outcome']> {
  const found = await lookAt(place.directory, path);
  if (found !== null) return found.type === 'directory' ? 'present' : 'in-the-way';
  await place.assertCurrent?.();
  await place.directory.makeDirectory(bytesOf(path), (mode & restoredBits) | ownerCanList, place.guard);
  return 'restored';
}

async function restoreContent(
  target: Target,
  entry: ArchiveEntry,
  content: () => AsyncIterable<Uint8Array>,
): Promise<RestoredEntry['outcome']> {
  const { directory, mayReplace } = target;
  const found = await lookAt(directory, entry.path);
  if (found?.type === 'directory') return 'in-the-way';
  if (found !== null && (await sameContent(directory, entry, found))) return 'present';
  if (found !== null && !(await mayReplace?.(entry.path, found))) return 'in-the-way';
  const digest = entry.sha256.slice(0, 16);
  return await transactions.run(shownPath(target.name), { base: null, next: digest }, async (temporary) => {
    const name = Buffer.byteLength(temporary) <= longestName ? temporary : shortName();
    await make(target.parent, name, entry, content);
    try {
      await target.assertCurrent?.();
      if (found !== null) return await exchange(target, name, found);
      await target.parent.renameNoReplace(name, bytesOf(target.name), null);
      return 'restored';
    } catch (error) {
      await forget(target.parent, name);
      throw error;
    }
  });
}

const longestName = 255;

function shortName(): string {
  return `.wa-${randomBytes(16).toString('hex')}.tmp`;
}

/** Under a temporary name, so that the name itself never leads to half of it. */
async function make(
  parent: DirectoryHandle,
  name: string,
  { type, mode }: ArchiveEntry,
  content: () => AsyncIterable<Uint8Array>,
): Promise<void> {
  if (type === 'symlink') {
    const words: Uint8Array[] = [];
    for await (const chunk of content()) words.push(chunk);
    return createHeldLink(parent, Buffer.from(name), Buffer.concat(words));
  }
  const file = await createHeldFile(parent, Buffer.from(name));
  try {
    for await (const chunk of content()) {
      for (let done = 0; done < chunk.length; ) done += (await file.write(chunk, done)).bytesWritten;
    }
    await file.chmod(mode & restoredBits);
    await file.datasync();
  } catch (error) {
    await forget(parent, name);
    throw error;
  } finally {
    await file.close();
  }
}

/** Takes the place of exactly the version that may be replaced; anything else gets its name back. */
async function exchange(
  { parent, name }: Target,
  temporary: string,
  standing: NativeEntry,
): Promise<RestoredEntry['outcome']> {
  await parent.exchange(bytesOf(name), temporary);
  const displaced = await parent.stat(temporary, null);
  // The exchange itself moves the change time.
  const isThatOne =
    displaced.inode === standing.inode &&
    displaced.device === standing.device &&
    displaced.size === standing.size &&
    displaced.modifiedNs === standing.modifiedNs;
  if (isThatOne) {
    await parent.unlinkIfSame(temporary, standing.inode, standing.device);
    return 'restored';
  }
  await parent.exchange(bytesOf(name), temporary);
  await forget(parent, temporary);
  return 'in-the-way';
}

/** Of our own making, and under a name that nobody else uses. */
async function forget(parent: DirectoryHandle, name: string): Promise<void> {
  const made = await lookAt(parent, name);
  if (made !== null) await parent.unlinkIfSame(name, made.inode, made.device);
}

async function lookAt(directory: DirectoryHandle, path: string): Promise<NativeEntry | null> {
  try {
    return await directory.stat(bytesOf(path), null);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
}

function unlessAbsent(error: unknown): void {
  // What is missing is made; what is no directory is met again.
  if (codeOf(error) !== 'ENOENT' && codeOf(error) !== 'ENOTDIR') throw error;
}

function unlessPresent(error: unknown): void {
  if (codeOf(error) !== 'EEXIST') throw error;
}
