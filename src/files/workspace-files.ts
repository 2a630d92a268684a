import type { BeneathPath } from '../capability/beneath-path.ts';
import type { FileCapability } from '../capability/file-capability.ts';

/** What identifies one version of a file's content. */
export interface FileVersion {
  /** Lower-case hex of the bytes; existing clients compare it. */
  readonly sha1: string;
  /** Strong entity tag, quotes included: `"sha256-<base64url>"` (RFC 9110, 8.8.3). */
  readonly etag: string;
  /** Bytes. */
  readonly size: number;
}

/** The hashes are made when they are first asked for and are not own properties: read them by name, a spread leaves them out. */
export interface FileReading extends FileVersion {
  readonly bytes: Uint8Array;
  readonly modifiedMs: number;
  readonly executable: boolean;
}

/** The version a change is based on; every given part must hold. At least one is required (R13). */
export interface BaseVersion {
  readonly sha1?: string;
  readonly etag?: string;
}

export interface ChangeOptions {
  readonly signal?: AbortSignal;
}

export interface Committed extends FileVersion {
  /** Names, in the same directory, of files kept because another writer owned or superseded them (R14, R15). Usually empty. */
  readonly kept: readonly string[];
}

export interface ListedEntry {
  /** Null when the name is not valid UTF-8; such an entry can be seen but not addressed. */
  readonly name: string | null;
  readonly undecodable: boolean;
  readonly type: 'file' | 'directory' | 'symlink' | 'other';
  readonly size: number;
  readonly modifiedMs: number;
  readonly executable: boolean;
  readonly linkTarget: 'inside' | 'outside' | 'broken' | null;
}

export interface Listing {
  readonly entries: readonly ListedEntry[];
  /** Opaque; give it back to continue after the last entry. Null at the end. */
  readonly cursor: string | null;
}

/** A held regular file for streaming. Dispose it; an abandoned one keeps its descriptor until then. */
export interface OpenFile extends Disposable {
  readonly size: number;
  readonly modifiedMs: number;
  /** Reads the whole file once to hash it; cached by inode, size and change time. */
  etag(): Promise<string>;
  readAt(position: number, length: number): Promise<Uint8Array>;
}

/**
 * File operations under a capability (R10-R16). All throw `identity_changed`, `path_outside_workspace`, `administrative_path`,
 * `permission_denied`, `busy`, `too_many_open_files`, `storage_failed`, `kernel_capability_missing` and, where they wait, `aborted`,
 * `deadline_exceeded`, `queue_full`. A failed change whose `details.inPlace` is true stands all the same: it could not be made
 * durable, or not be taken back. All changes throw `atomic_exchange_unavailable` where the file system cannot exchange names (R16).
 *
 * The names of temporary files are nobody's: they are not listed, and every operation refuses them as `administrative_path`. Recovery
 * files (`.wa-*.kept`) are ordinary files to all operations.
 *
 * Not promised: that a reading is one version when another program writes the file in place at that moment; that a warm `read` notices
 * a root that was rebound after the capability was given out (operations that wait do, and changes always do).
 */
export interface WorkspaceFiles {
  /** Symbolic links that stay inside are followed. @throws `not_found` | `not_regular_file` | `file_too_large` (details.size) */
  read(
    capability: FileCapability,
    path: BeneathPath,
    options?: { readonly limit?: number },
  ): Promise<FileReading>;
  /** @throws as `read`, without a size limit */
  open(capability: FileCapability, path: BeneathPath): Promise<OpenFile>;
  /** `null` lists the root. Names sorted by bytes. @throws `not_found` | `not_directory` | `invalid_request` (bad cursor) */
  list(
    capability: FileCapability,
    path: BeneathPath | null,
    options?: { readonly cursor?: string; readonly limit?: number },
  ): Promise<Listing>;
  /**
   * Replaces an existing regular file by atomic exchange. @throws `conflict` when `base.sha1` is stale | `precondition_failed` when
   * only `base.etag` is, both with `details` {sha1, etag, size, kept} of what stands there now (null where nothing readable does)
   * | `precondition_required` | `invalid_request` (base.sha1 is no hash) | `symlink_not_writable` | `file_busy` | `metadata_not_preservable` |
   * `atomic_exchange_unavailable` | `no_space` | `file_system_read_only` | `not_found` | `not_regular_file` | `file_too_large`
   */
  replace(
    capability: FileCapability,
    path: BeneathPath,
    bytes: Uint8Array,
    base: BaseVersion,
    options?: ChangeOptions,
  ): Promise<Committed>;
  /** The parent must exist. @throws `already_exists` | `not_found` (parent) | `no_space` | ... */
  create(
    capability: FileCapability,
    path: BeneathPath,
    bytes: Uint8Array,
    options?: ChangeOptions,
  ): Promise<FileVersion>;
  /** Removes exactly that version of a regular file, of at most 64 MiB. @throws as `replace` */
  remove(
    capability: FileCapability,
    path: BeneathPath,
    base: BaseVersion,
    options?: ChangeOptions,
  ): Promise<void>;
  /**
   * Never overwrites; moves files, directories and links themselves. A directory that is or contains anything administrative stays.
   * @throws `already_exists` | `not_found` | `invalid_path` (into itself) | `not_offered` (across file systems)
   */
  rename(
    capability: FileCapability,
    from: BeneathPath,
    to: BeneathPath,
    options?: ChangeOptions,
  ): Promise<void>;
  makeDirectory(capability: FileCapability, path: BeneathPath, options?: ChangeOptions): Promise<void>;
  /** @throws `directory_not_empty` | `not_directory` */
  removeDirectory(capability: FileCapability, path: BeneathPath, options?: ChangeOptions): Promise<void>;
  /**
   * Finishes or undoes what a dead process left below the root; idempotent; touches nothing that a live process owns or whose
   * content nobody else has. `dryRun` only reports.
   */
  recover(capability: FileCapability, options?: RecoverOptions): Promise<RecoveryReport>;
}

export interface RecoverOptions extends ChangeOptions {
  readonly dryRun?: boolean;
  /** Directories examined at most; default 50,000. A larger tree is reported as incomplete, never as clean. */
  readonly directoryLimit?: number;
}

export interface RecoveryReport {
  readonly actions: readonly RecoveredFile[];
  readonly directoriesExamined: number;
  readonly complete: boolean;
}

export interface RecoveredFile {
  /** Relative to the root. */
  readonly path: string;
  readonly action: 'removed' | 'restored' | 'kept' | 'owner-alive';
  /** One constant sentence saying why. */
  readonly reason: string;
}
