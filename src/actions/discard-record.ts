import type { ArchiveEntry, ArchiveFacts } from '../archive/archives.ts';
import type { OpenArchive } from '../archive/open-archive.ts';
import type { RepositoryCapability } from '../capability/repository-capability.ts';
import { AuthorityError } from '../errors/index.ts';
import { type ObjectOid, parseCommitOid } from '../git/values.ts';
import type { IndexEntry } from '../git/write-commands.ts';
import type { DiscardPlan } from './discard-plan.ts';

/** Where an archive of a discard has what: the files, and beside them what the index said, with its objects as one pack. */
export const filesArea = 'files';
export const indexArea = 'index';
export const recordsPath = 'changes.json';
export const objectsPath = 'staged.pack';

/** One tracked path as a discard found it. Latin-1. */
export interface DiscardedChange {
  readonly path: string;
  readonly head: IndexEntry | null;
  readonly index: IndexEntry | null;
  readonly isStaged: boolean;
  /** Whether no file stood there. */
  readonly isDeleted: boolean;
}

export function discardFacts({ root }: RepositoryCapability, { head }: DiscardPlan): ArchiveFacts {
  return { root, head: head.commit, branch: head.branch };
}

export function printRecords({ changes, files }: DiscardPlan): string {
  const standing = new Set(files.map(({ path }) => path));
  const records = changes.map(
    ({ path, head, index, staged }): DiscardedChange => ({
      path,
      head,
      index,
      isStaged: staged !== '.',
      isDeleted: !standing.has(path),
    }),
  );
  return JSON.stringify(records);
}

/** @throws `state_unavailable` when the archive is damaged */
export async function readChangesOf(
  archive: OpenArchive,
  entries: readonly ArchiveEntry[],
): Promise<readonly DiscardedChange[]> {
  const text = (await readMember(archive, entries, recordsPath))?.toString('utf8');
  const records: unknown = text === undefined ? null : JSON.parse(text);
  if (!Array.isArray(records) || !records.every(isChange)) {
    const file = `archives/${archive.summary.id}/content`;
    throw new AuthorityError('state_unavailable', { details: { file, reason: 'is not what was written' } });
  }
  return records;
}

/** Null when the archive has none. */
export async function readMember(
  archive: OpenArchive,
  entries: readonly ArchiveEntry[],
  path: string,
): Promise<Buffer | null> {
  const entry = entries.find((candidate) => candidate.area === indexArea && candidate.path === path);
  if (entry === undefined) return null;
  const parts: Uint8Array[] = [];
  for await (const part of archive.content(entry)) parts.push(part);
  return Buffer.concat(parts);
}

function isChange(value: unknown): value is DiscardedChange {
  const { path, head, index, isStaged, isDeleted } = (value ?? {}) as Partial<DiscardedChange>;
  return (
    typeof path === 'string' &&
    isEntryOrNull(head) &&
    isEntryOrNull(index) &&
    typeof isStaged === 'boolean' &&
    typeof isDeleted === 'boolean'
  );
}

function isEntryOrNull(value: unknown): value is IndexEntry | null {
  if (value === null) return true;
  const { mode, oid } = (value ?? {}) as { mode?: unknown; oid?: unknown };
  const isOid = typeof oid === 'string' && (parseCommitOid(oid) as ObjectOid | null) !== null;
  return typeof mode === 'string' && /^[0-7]{6}$/.test(mode) && isOid;
}
