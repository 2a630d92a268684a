import { type DirectoryHandle, fileFacts, type NativeEntry } from '../capability/handles.ts';
import { codeOf, refusalOf } from '../capability/refusal.ts';
import { AuthorityError } from '../errors/index.ts';
import type { ArchiveMember, KeptEntry, KeptVersion } from './archives.ts';
import type { ContentWriter } from './content-writer.ts';
import { readHeldLink } from './held-names.ts';
import { bytesOf, isPlainPath, shownPath, splitPath } from './latin-path.ts';

const chunkBytes = 1024 * 1024;
const permissionBits = 0o7777;
const givenMode = 0o600;
/** A file that changes at each look is being written; nobody can say which of its versions is the one to keep. */
const looks = 4;

export type NotArchivable =
  | 'special-file'
  | 'file-too-large'
  | 'too-many-entries'
  | 'changes-while-read'
  | 'missing'
  | 'unreadable'
  | 'mount';

export function notArchivable(
  reason: NotArchivable,
  paths: readonly string[],
  cause?: unknown,
): AuthorityError {
  return new AuthorityError('not_archivable', { details: { reason, paths: paths.map(shownPath) }, cause });
}

/**
 * Reads one member into the content of an archive. A file is read until it was the same before and after.
 * @throws `not_archivable` | what the writer throws | errno as a refusal
 */
export async function keepMember(
  writer: ContentWriter,
  member: ArchiveMember,
  fileBytes: number,
): Promise<KeptEntry> {
  const { area, path } = member;
  if (!isPlainPath(path)) throw new TypeError('not a plain path');
  writer.begin();
  if ('bytes' in member) {
    await keepGiven(writer, member, fileBytes);
    return { area, path, type: 'file', mode: givenMode, ...writer.end(), version: null };
  }
  try {
    for (let look = 0; look < looks; look += 1) {
      writer.begin();
      const entry = await member.from.stat(bytesOf(path), null);
      const type = typeOf(entry, path);
      if (type === 'file') await keepFile(writer, member.from, path, fileBytes);
      if (type === 'symlink') await writer.append(await readLinkAt(member.from, path));
      const after = await member.from.stat(bytesOf(path), null);
      if (type !== 'directory' && !isSame(entry, after)) continue;
      const version = type === 'directory' ? null : versionOf(entry);
      return { area, path, type, mode: entry.mode & permissionBits, ...writer.end(), version };
    }
  } catch (error) {
    throw failureAt(path, error);
  }
  throw notArchivable('changes-while-read', [path]);
}

async function keepGiven(
  writer: ContentWriter,
  { bytes, path }: Extract<ArchiveMember, { bytes: unknown }>,
  fileBytes: number,
): Promise<void> {
  let size = 0;
  for await (const chunk of bytes instanceof Uint8Array ? [bytes] : bytes) {
    size += chunk.length;
    if (size > fileBytes) throw notArchivable('file-too-large', [path]);
    await writer.append(chunk);
  }
}

async function keepFile(
  writer: ContentWriter,
  from: DirectoryHandle,
  path: string,
  fileBytes: number,
): Promise<void> {
  const file = await from.openFile(bytesOf(path), null);
  try {
    if (Number(file.facts()[fileFacts.size]) > fileBytes) throw notArchivable('file-too-large', [path]);
    for (let position = 0; ; ) {
      const chunk = await file.readAt(position, chunkBytes);
      position += chunk.length;
      if (position > fileBytes) throw notArchivable('file-too-large', [path]);
      if (chunk.length > 0) await writer.append(chunk);
      if (chunk.length < chunkBytes) return;
    }
  } finally {
    file.close();
  }
}

export async function readLinkAt(from: DirectoryHandle, path: string): Promise<Buffer> {
  const { parent, name } = splitPath(path);
  const directory = await from.openDirectory(bytesOf(parent));
  try {
    return await readHeldLink(directory, bytesOf(name));
  } finally {
    directory.close();
  }
}

function typeOf({ type }: NativeEntry, path: string): KeptEntry['type'] {
  if (type === 'other') throw notArchivable('special-file', [path]);
  return type;
}

/** Whether an entry is the same version; a later write(2) moves both times. */
function isSame(one: NativeEntry, other: NativeEntry): boolean {
  return (
    one.inode === other.inode &&
    one.device === other.device &&
    one.size === other.size &&
    one.modifiedNs === other.modifiedNs &&
    one.changedNs === other.changedNs
  );
}

function versionOf({ inode, device, modifiedNs, changedNs }: NativeEntry): KeptVersion {
  return { inode, device, modifiedNs, changedNs };
}

const reasons: Readonly<Record<string, NotArchivable>> = {
  ENOENT: 'missing',
  ENOTDIR: 'missing',
  ELOOP: 'missing',
  EACCES: 'unreadable',
  EPERM: 'unreadable',
  EXDEV: 'mount',
  WA_NOT_REGULAR: 'special-file',
};

function failureAt(path: string, error: unknown): unknown {
  const code = codeOf(error);
  if (code === null) return error;
  const reason = reasons[code];
  return reason === undefined ? refusalOf(error) : notArchivable(reason, [path], error);
}
