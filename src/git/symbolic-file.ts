import { type DirectoryHandle, fileFacts, type NativePath } from '../capability/handles.ts';
import { codeOf, refusalOf } from '../capability/refusal.ts';
import { type Head, headLimitBytes, parseHead } from './head.ts';

/** How a file looks that Git does not keep a symbolic ref in. */
const noSymbolicRef = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'EXDEV', 'EFBIG', 'EISDIR', 'WA_NOT_REGULAR']);

/**
 * Reads HEAD, or a file like it, beneath a held directory. Null when the file is missing or not written as Git writes it.
 * @throws `storage_failed` | `too_many_open_files` | ... when it cannot be read for reasons of the system
 */
export async function readSymbolicFile(directory: DirectoryHandle, name: NativePath): Promise<Head | null> {
  try {
    return parseHead(await directory.read(name, headLimitBytes, new BigInt64Array(fileFacts.count), null));
  } catch (error) {
    if (noSymbolicRef.has(codeOf(error) ?? '')) return null;
    throw refusalOf(error);
  }
}
