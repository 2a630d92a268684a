import { fileFacts } from '../capability/handles.ts';
import type { HeldRoot } from '../capability/held-root.ts';
import { codeOf, refusalOf } from '../capability/refusal.ts';
import { type DiffBudget, type DiffFile, type DiffLine, decodeLine, nameFields } from './diff-file.ts';
import { readLink } from './read-link.ts';

const newline = 0x0a;
/** Git takes a file for binary when one of so many first bytes is NUL (xdiff-interface.c, `buffer_is_binary`). */
const binaryProbeBytes = 8000;
/** How a file looks that went away, or became something else, after Git listed it. */
const gone = new Set(['ENOENT', 'ENOTDIR', 'EINVAL', 'EISDIR', 'WA_NOT_REGULAR']);
/** How one looks that may be named but not read. */
const closed = new Set(['EACCES', 'EPERM', 'EXDEV', 'WA_CLOSED_DIRECTORY']);

/**
 * Shows an untracked file as the addition that it would be. It is read beneath the held root and as it lies there: no filter, no conversion
 * of line endings, no attribute. Null when it is gone.
 * @throws `storage_failed` | `too_many_open_files` | ... when it cannot be read for reasons of the system
 */
export async function readUntrackedFile(
  held: HeldRoot,
  latin1Path: string,
  budget: DiffBudget,
): Promise<DiffFile | null> {
  const path = Buffer.from(latin1Path, 'latin1');
  const facts = new BigInt64Array(fileFacts.count);
  try {
    const bytes =
      held.directory.readCached(path, budget.fileBytes, facts, held.guard) ??
      (await held.directory.read(path, budget.fileBytes, facts, held.guard));
    return addition(latin1Path, fileMode(facts), bytes, budget);
  } catch (error) {
    // Longer than what is shown of a file.
    if (codeOf(error) === 'EFBIG') return { ...bare(latin1Path, fileMode(facts)), status: 'too_large' };
    if (codeOf(error) !== 'ELOOP') return notRead(latin1Path, error);
  }
  // What Git stores of a symbolic link is where it leads.
  try {
    return addition(latin1Path, '120000', await readLink(held, path), budget);
  } catch (error) {
    return notRead(latin1Path, error);
  }
}

function notRead(path: string, error: unknown): DiffFile | null {
  const code = codeOf(error) ?? '';
  if (gone.has(code)) return null;
  if (closed.has(code)) return { ...bare(path, null), unreadable: true };
  throw refusalOf(error);
}

function addition(path: string, mode: string, content: Uint8Array, budget: DiffBudget): DiffFile {
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  const file = bare(path, mode);
  if (bytes.length === 0) return file;
  if (bytes.subarray(0, binaryProbeBytes).includes(0)) return { ...file, status: 'binary' };
  const additions = countLines(bytes);
  // As in a patch, where each line has a mark.
  if (!budget.spend(bytes.length + additions)) return { ...file, additions, status: 'too_large' };
  const lines = addedLines(bytes);
  const undecodable = file.undecodable || lines.some((line) => line.base64 !== undefined);
  const hunk = { oldStart: 0, oldCount: 0, newStart: 1, newCount: additions, header: '', lines };
  return { ...file, additions, hunks: [hunk], ...(undecodable ? { undecodable: true } : {}) };
}

function countLines(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(newline); at !== -1; at = bytes.indexOf(newline, at + 1)) count += 1;
  return bytes.at(-1) === newline ? count : count + 1;
}

function addedLines(bytes: Buffer): DiffLine[] {
  const lines: DiffLine[] = [];
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(newline, start);
    lines.push(decodeLine('add', bytes, start, end === -1 ? bytes.length : end));
    if (end === -1) lines.push({ type: 'meta', content: '\\ No newline at end of file' });
    start = end === -1 ? bytes.length : end + 1;
  }
  return lines;
}

function bare(path: string, newMode: string | null): DiffFile {
  const names = nameFields(path, null);
  return {
    ...names,
    status: 'added',
    change: 'added',
    additions: 0,
    deletions: 0,
    hunks: [],
    oldMode: null,
    newMode,
    untracked: true,
    ...(names.pathBase64 === undefined ? {} : { undecodable: true }),
  };
}

function fileMode(facts: BigInt64Array): string {
  return ((facts[fileFacts.mode] ?? 0n) & 0o100n) === 0n ? '100644' : '100755';
}
