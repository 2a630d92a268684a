import { basename, dirname } from 'node:path/posix';
import { emptyFacts, ownerOf } from '../capability/file-facts.ts';
import type { DirectoryHandle } from '../capability/handles.ts';
import { matchesStoredIdentity } from '../capability/identity.ts';
import type { ManagedFacts } from '../capability/managed-worktree-capability.ts';
import { AuthorityError, isAuthorityError } from '../errors/index.ts';
import { type AdminFile, readAdminFile } from './admin-file.ts';
import { administrationPath, type WorktreeClaim } from './checkout-claim.ts';
import type { FactLog } from './facts.ts';
import { FileWatch } from './file-watch.ts';
import {
  type ManagedMetadata,
  metadataLimitBytes,
  metadataPaths,
  parseOwnMetadata,
  parsePluginMetadata,
} from './managed-metadata.ts';
import {
  findNamespace,
  isHashOf,
  isRecordOf,
  type ManagedRoot,
  ownerRecordLimitBytes,
  ownerRecordNames,
} from './managed-namespace.ts';
import { NameWatch } from './name-watch.ts';
import { changeOrFailure } from './storage-failure.ts';

export interface ManagedProof {
  /** Null for a worktree that is linked only. */
  readonly facts: ManagedFacts | null;
  /** Together they tell whether the answer is still the same, whichever it is. */
  readonly names: readonly NameWatch[];
  readonly files: readonly FileWatch[];
}

/** Why a linked worktree is not managed. */
type Refusal =
  | 'no metadata'
  | 'metadata damaged'
  | 'metadata names another main checkout'
  | 'metadata belongs to another worktree'
  | 'outside the managed roots'
  | 'in the hash directory of another repository'
  | 'hash directory of another owner';

/**
 * Whether a proven linked worktree is managed: metadata, namespace and ownership, in the order of wire contract 2. Its main checkout and
 * its row in the worktree list are proven already. Which branch is checked out, or whether an operation is under way, does not matter
 * (W38). Forged or damaged metadata never makes a worktree managed (R26); what cannot be read because of the system is a refusal (R04).
 * @throws `identity_changed` (details.what) | `storage_failed` | `too_many_open_files` | `busy`
 */
export async function proveManaged(
  claim: WorktreeClaim,
  top: DirectoryHandle,
  roots: readonly ManagedRoot[],
  log: FactLog,
): Promise<ManagedProof> {
  const names: NameWatch[] = [];
  const files: FileWatch[] = [];
  const judged = await judge(claim, top, roots, names, files);
  const managed = typeof judged !== 'string';
  const seen = managed ? `yes, by metadata of version ${judged.version}` : `no: ${judged}`;
  log?.push({ fact: 'managed worktree', expected: 'yes or no', seen, holds: true });
  return { facts: managed ? judged : null, names, files };
}

async function judge(
  claim: WorktreeClaim,
  top: DirectoryHandle,
  roots: readonly ManagedRoot[],
  names: NameWatch[],
  files: FileWatch[],
): Promise<ManagedFacts | Refusal> {
  const metadata = await findMetadata(claim, names, files);
  if (typeof metadata === 'string') return metadata;
  if (metadata.mainRoot !== claim.main.path) return 'metadata names another main checkout';
  if (!isBoundTo(metadata, claim)) return 'metadata belongs to another worktree';
  const place = findNamespace(roots, claim.path);
  if (place === null) return 'outside the managed roots';
  if (!isHashOf(place.root.scheme, place.hashName, claim.main.path)) {
    return 'in the hash directory of another repository';
  }
  const owned = await isOwned(claim, top, place.root, names, files);
  if (!owned) return 'hash directory of another owner';
  // Where we make the worktrees, a copy of unbound metadata counts for nothing.
  if (place.root.scheme === 'authority' && metadata.binding === null)
    return 'metadata belongs to another worktree';
  return metadata.facts;
}

/** Our own metadata decides where there is any; the plugin's counts only without it. */
async function findMetadata(
  claim: WorktreeClaim,
  names: NameWatch[],
  files: FileWatch[],
): Promise<ManagedMetadata | Refusal> {
  for (const version of [2, 1] as const) {
    const found = await readMetadata(claim, metadataPaths[version], names, files);
    if (found === null) continue;
    if (found === 'irregular') return 'metadata damaged';
    try {
      return version === 2 ? parseOwnMetadata(found.bytes) : parsePluginMetadata(found.bytes);
    } catch {
      return 'metadata damaged';
    }
  }
  return 'no metadata';
}

async function readMetadata(
  { gitDirectory, main, name, owner }: WorktreeClaim,
  path: string,
  names: NameWatch[],
  files: FileWatch[],
): Promise<AdminFile | 'irregular' | null> {
  const place = administrationPath(name);
  // That a metadata directory comes later shows in the watch of the administrative directory.
  const directory = await NameWatch.beginIfThere(main.root, `${place}/${dirname(path)}`, ['worktree.json']);
  if (directory === null) return null;
  names.push(directory);
  const read = () => readAdminFile(gitDirectory, path, metadataLimitBytes, owner);
  return readWatched(read, directory, { base: main.root, path: `${place}/${path}` }, files);
}

/** Reads a file of the watched directory `around` so that every later change of it shows, also of one that cannot be read. */
async function readWatched(
  read: () => Promise<AdminFile | null>,
  around: NameWatch,
  { base, path }: { readonly base: DirectoryHandle; readonly path: string },
  files: FileWatch[],
): Promise<AdminFile | 'irregular' | null> {
  try {
    const file = await read();
    if (file !== null) files.push(new FileWatch(base, path, file));
    return file;
  } catch (error) {
    if (!isAuthorityError(error) || error.code !== 'repository_unsupported') throw error;
    const stamp = around.find(basename(path));
    // Never settled, and compared with no content: it is looked at anew each time.
    if (stamp !== null) files.push(new FileWatch(base, path, { bytes: new Uint8Array(), stamp }));
    return 'irregular';
  }
}

function isBoundTo({ binding }: ManagedMetadata, { root, gitDirectory }: WorktreeClaim): boolean {
  if (binding === null) return true;
  return (
    matchesStoredIdentity(root.identity(), binding.root) &&
    matchesStoredIdentity(gitDirectory.identity(), binding.gitDirectory)
  );
}

async function isOwned(
  claim: WorktreeClaim,
  top: DirectoryHandle,
  { scheme }: ManagedRoot,
  names: NameWatch[],
  files: FileWatch[],
): Promise<boolean> {
  const hashPath = dirname(claim.path).slice(1);
  const recordName = ownerRecordNames[scheme];
  const directory = await top.openDirectory(hashPath).catch((error: unknown) => {
    throw changeOrFailure(error, 'root');
  });
  try {
    let ownerThen: number | null = null;
    const sameOwner = () => ownerAt(top, hashPath) === ownerThen;
    const watch = await NameWatch.begin(top, hashPath, [recordName], sameOwner).catch((error: unknown) => {
      throw changeOrFailure(error, 'root');
    });
    // After the watch began, so that whatever comes later shows.
    const { uid, device, inode } = directory.identity();
    ownerThen = uid;
    const same = watch.directory.device === device && watch.directory.inode === inode;
    if (!same || !(await holds(directory, basename(claim.path), claim.root)))
      throw new AuthorityError('identity_changed', { details: { what: 'root' } });
    names.push(watch);
    if (uid !== claim.owner) return false;
    const read = () => readAdminFile(directory, recordName, ownerRecordLimitBytes, claim.owner);
    const record = await readWatched(read, watch, { base: top, path: `${hashPath}/${recordName}` }, files);
    if (record === 'irregular') return false;
    return record === null ? scheme === 'plugin' : isRecordOf(scheme, record.bytes, claim.main);
  } finally {
    directory.close();
  }
}

/** Whether it is the directory that the held root lies in, and not one that was exchanged with it for a moment. */
async function holds(directory: DirectoryHandle, name: string, root: DirectoryHandle): Promise<boolean> {
  const entry = await directory.stat(name, null).catch((error: unknown) => {
    throw changeOrFailure(error, 'root');
  });
  const { device, inode } = root.place();
  return entry.device === device && entry.inode === inode;
}

const scratch = emptyFacts();

/** Null where the kernel would have to wait, or nothing is there: what is not known is not the same. */
function ownerAt(top: DirectoryHandle, path: string): number | null {
  try {
    return top.factsCached(path, scratch) ? ownerOf(scratch) : null;
  } catch {
    return null;
  }
}
