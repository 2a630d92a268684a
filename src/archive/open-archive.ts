import { createHash } from 'node:crypto';
import type { DirectoryHandle, FileHandle } from '../capability/handles.ts';
import { AuthorityError } from '../errors/index.ts';
import { parseEntry } from './archive-record.ts';
import type { ArchiveEntry, ArchiveSummary, RestorePlace } from './archives.ts';
import { type RestoredEntry, type RestoreOptions, restoreEntry } from './restore-entry.ts';

const chunkBytes = 1024 * 1024;

export interface RestoreRequest extends RestoreOptions {
  /** Which of the entries; parents before what is below them, as they were given. */
  readonly entries: readonly ArchiveEntry[];
}

/** An archive that is read. Its owner closes it. */
export class OpenArchive {
  readonly summary: ArchiveSummary;
  readonly #content: FileHandle;
  readonly #list: FileHandle;
  readonly #listSha256: string;

  /** The files pass to the archive. */
  constructor(summary: ArchiveSummary, content: FileHandle, list: FileHandle, listSha256: string) {
    this.summary = summary;
    this.#content = content;
    this.#list = list;
    this.#listSha256 = listSha256;
  }

  /** In the order in which they were given. @throws `state_unavailable` when the list is not the one that was written */
  async entries(area?: string): Promise<readonly ArchiveEntry[]> {
    const hash = createHash('sha256');
    const entries: ArchiveEntry[] = [];
    let rest = '';
    for await (const chunk of chunksOf(this.#list)) {
      hash.update(chunk);
      // The list is ASCII but for escapes of JSON, and Latin-1 beyond.
      const lines = (rest + Buffer.from(chunk).toString('latin1')).split('\n');
      rest = lines.pop() ?? '';
      try {
        for (const line of lines) {
          const entry = parseEntry(Buffer.from(line, 'latin1').toString('utf8'));
          if (area === undefined || entry.area === area) entries.push(entry);
        }
      } catch (cause) {
        throw damaged(this.summary.id, 'entries', cause);
      }
    }
    if (rest !== '' || hash.digest('hex') !== this.#listSha256) throw damaged(this.summary.id, 'entries');
    return entries;
  }

  /** The bytes of an entry, at most a mebibyte at a time. @throws `state_unavailable` after the last of them when they are not those that were written */
  async *content({ offset, size, sha256 }: ArchiveEntry): AsyncGenerator<Uint8Array> {
    const hash = createHash('sha256');
    for (let done = 0; done < size; ) {
      const chunk = await this.#content.readAt(offset + done, Math.min(chunkBytes, size - done));
      if (chunk.length === 0) throw damaged(this.summary.id, 'content');
      done += chunk.length;
      hash.update(chunk);
      yield chunk;
    }
    if (hash.digest('hex') !== sha256) throw damaged(this.summary.id, 'content');
  }

  /**
   * Puts entries back beneath a held directory, each as a whole or not at all; missing directories are made. Nothing that stands there
   * is replaced, unless `mayReplace` says that it is nothing of its own.
   */
  async restore(
    place: RestorePlace,
    { entries, mayReplace, assertCurrent }: RestoreRequest,
  ): Promise<readonly RestoredEntry[]> {
    const restored: RestoredEntry[] = [];
    for (const entry of entries) {
      const options = { ...(mayReplace && { mayReplace }), ...(assertCurrent && { assertCurrent }) };
      restored.push(await restoreEntry(place, entry, () => this.content(entry), options));
    }
    return restored;
  }

  close(): void {
    this.#content.close();
    this.#list.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

export async function openContents(
  directory: DirectoryHandle,
): Promise<{ content: FileHandle; list: FileHandle }> {
  const content = await directory.openFile('content', null);
  try {
    return { content, list: await directory.openFile('entries', null) };
  } catch (error) {
    content.close();
    throw error;
  }
}

async function* chunksOf(file: FileHandle): AsyncGenerator<Uint8Array> {
  for (let position = 0; ; ) {
    const chunk = await file.readAt(position, chunkBytes);
    if (chunk.length === 0) return;
    position += chunk.length;
    yield chunk;
  }
}

export function damaged(id: string, name: string, cause?: unknown): AuthorityError {
  const details = { file: `archives/${id}/${name}`, reason: 'is not what was written' };
  return new AuthorityError('state_unavailable', { details, cause });
}
