import type { DirectoryHandle } from '../capability/handles.ts';
import type { HeldRoot } from '../capability/held-root.ts';
import type { OpenArchive } from './open-archive.ts';

/** `discard`: some changes of a checkout. `worktree`: all that a worktree had before it was removed. */
export type ArchiveKind = 'discard' | 'worktree';

/** A value of JSON; facts of the caller, which no one in this room reads. */
export type ArchiveFact = string | number | boolean | null | readonly ArchiveFact[] | ArchiveFacts;
export interface ArchiveFacts {
  readonly [name: string]: ArchiveFact;
}

/**
 * One thing to keep. Paths are relative, `/`-separated bytes as Latin-1 text, as everywhere in Git's output. `area` tells apart trees that
 * one archive holds, e.g. `files` and `git-directory`.
 */
export type ArchiveMember =
  /** What stands there: a regular file, a symbolic link or a directory (itself, without what is in it). */
  | { readonly area: string; readonly path: string; readonly from: DirectoryHandle }
  /** Bytes from elsewhere, e.g. the output of a program; kept like a file of mode 0600. */
  | {
      readonly area: string;
      readonly path: string;
      readonly bytes: Uint8Array | AsyncIterable<Uint8Array>;
    };

export interface ArchiveRequest {
  readonly kind: ArchiveKind;
  /** Whose archives these are: the family of a repository, or another name under which they are looked for. At most 4,096 characters. */
  readonly owner: string;
  readonly facts: ArchiveFacts;
  readonly members: Iterable<ArchiveMember> | AsyncIterable<ArchiveMember>;
}

/** One thing that is kept. */
export interface ArchiveEntry {
  readonly area: string;
  readonly path: string;
  readonly type: 'file' | 'symlink' | 'directory';
  /** Permission bits with set-id and sticky bits, which are not restored. */
  readonly mode: number;
  /** Bytes of the file or of the words of the link. */
  readonly size: number;
  /** Hex; of the file or of the words of the link; of no bytes for a directory. */
  readonly sha256: string;
  /** Where its bytes begin among those of the archive. */
  readonly offset: number;
}

/** A file or link as it was when it was read, for whoever removes exactly that one; null for bytes from elsewhere and for directories. */
export interface KeptVersion {
  readonly inode: bigint;
  readonly device: bigint;
  readonly modifiedNs: bigint;
  readonly changedNs: bigint;
}

export interface KeptEntry extends ArchiveEntry {
  readonly version: KeptVersion | null;
}

export interface ArchiveSummary {
  readonly id: string;
  readonly kind: ArchiveKind;
  readonly owner: string;
  readonly facts: ArchiveFacts;
  /** As toISOString() writes it. */
  readonly createdAt: string;
  /** When retention lets it go. */
  readonly keptUntil: string;
  readonly entries: number;
  /** On disk. */
  readonly bytes: number;
  /** Whether what it was made for came to its end. False for what was cut off, and for what still runs. */
  readonly finished: boolean;
}

/**
 * Keeps bytes that are in no repository, in the state directory and for its owner alone (decisions 1.2). An archive exists as a whole or
 * not at all: it is written beside the others, synced, and renamed among them last.
 *
 * Kept are contents, the words of links, permission bits and names. Not kept: owner, times, extended attributes, access lists, holes, and
 * that two names were one file. Other programs of the same user can change archives; what no longer has its hash is not restored.
 *
 * All throw `state_unavailable` (details.file below the state directory, details.reason).
 */
export interface Archives {
  /**
   * @throws `not_archivable` (details.reason `special-file` | `file-too-large` | `too-many-entries` | `changes-while-read` | `missing` |
   *   `unreadable` | `mount`; details.paths): nothing was kept | `archive_quota_exceeded` (details.quotaBytes, usedBytes, oldest: the id of the oldest archive) |
   *   `no_space` | `aborted` | `queue_full` | `deadline_exceeded` | `shutting_down` | what `members` throws
   */
  write(request: ArchiveRequest, signal?: AbortSignal): Promise<WrittenArchive>;
  /** Oldest first. Without an owner: all. */
  list(owner?: string): Promise<readonly ArchiveSummary[]>;
  /** The caller closes it. @throws `archive_not_found` */
  open(id: string): Promise<OpenArchive>;
  /** Notes that what the archive was made for came to its end. @throws `archive_not_found` */
  finish(id: string): Promise<void>;
  /** @throws `archive_not_found` */
  drop(id: string): Promise<void>;
  /** Removes what a killed process left half-written or half-dropped, and archives past their time. */
  recover(): Promise<ArchiveRecovery>;
}

export interface WrittenArchive {
  readonly id: string;
  readonly entries: readonly KeptEntry[];
  readonly bytes: number;
}

export interface ArchiveRecovery {
  /** Directories that no one will finish. */
  readonly halfWritten: number;
  /** Ids of archives that retention let go. */
  readonly expired: readonly string[];
}

export interface ArchiveLimits {
  /** Bytes of all archives; default 1 GiB. */
  readonly quotaBytes: number;
  /** Days; default 30. */
  readonly retentionDays: number;
  /** Bytes of one file; default 512 MiB. */
  readonly fileBytes: number;
  /** Entries of one archive; default 200,000. */
  readonly entries: number;
}

/** Where entries are put back; a held root is one. Names that the confinement closes, and directories that the guard does, are refused. */
export interface RestorePlace {
  readonly directory: DirectoryHandle;
  readonly guard: HeldRoot['guard'] | null;
  readonly confinement?: HeldRoot['confinement'];
}
