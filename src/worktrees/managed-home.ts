import { basename, dirname } from 'node:path/posix';
import type { DirectoryHandle, NativeBinding } from '../capability/handles.ts';
import { codeOf } from '../capability/refusal.ts';
import type { RepositoryCapability } from '../capability/repository-capability.ts';
import { AuthorityError, isAuthorityError } from '../errors/index.ts';
import {
  authorityHash,
  isRecordOf,
  type ManagedRoot,
  ownerRecordNames,
  printOwnerRecord,
} from '../proof/managed-namespace.ts';
import { alternativesOf } from './names.ts';
import { RecordStore } from './record-store.ts';

/** The directory `<managed root>/<hash>` in which the worktrees of one main checkout and the records about them lie, held open. */
export interface ManagedHome extends Disposable {
  readonly path: string;
  readonly directory: DirectoryHandle;
  readonly records: RecordStore;
  /** @throws `managed_root_unusable` when its path leads elsewhere by now */
  assertInPlace(): Promise<void>;
}

const scheme = 'authority';

/**
 * Opens the directory of a main checkout, walking no symbolic link, and makes it with its owner record when it is missing (R25). A hash
 * that another repository has gets a number behind it (W35).
 * @throws `managed_root_unusable` (details.reason) | `state_unavailable` | `no_space`
 */
export async function openHome(
  native: NativeBinding,
  root: ManagedRoot,
  main: RepositoryCapability,
): Promise<ManagedHome> {
  const held = await openRoot(native, root.path);
  try {
    for (const name of alternativesOf(authorityHash(main.root))) {
      const home = await openBelow(held, root.path, name, true);
      if (home !== null && (await isOwnedBy(home, main))) return home;
      home?.[Symbol.dispose]();
    }
  } catch (error) {
    throw asUnusable(error);
  } finally {
    held.close();
  }
  throw unusable('every directory name is taken');
}

/** Those there are; makes nothing. @throws `managed_root_unusable` */
export async function listHomes(native: NativeBinding, root: ManagedRoot): Promise<readonly ManagedHome[]> {
  const homes: ManagedHome[] = [];
  const held = await native.openRoot(root.path, {}).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return null;
    throw asUnusable(error);
  });
  if (held === null) return homes;
  try {
    for (const name of await new RecordStore(held).names()) {
      if (!/^[0-9a-f]{32}(?:-[1-9]\d{0,3})?$/.test(name)) continue;
      const home = await openBelow(held, root.path, name, false);
      if (home !== null) homes.push(home);
    }
    return homes;
  } catch (error) {
    for (const home of homes) home[Symbol.dispose]();
    throw asUnusable(error);
  } finally {
    held.close();
  }
}

/** The main checkout that the owner record of a directory names; null when it names none. It proves nothing. */
export async function claimedMainOf({ records }: ManagedHome): Promise<string | null> {
  const record = await records.read(ownerRecordNames[scheme]);
  try {
    const { mainRoot } = JSON.parse(Buffer.from(record?.bytes ?? '').toString('utf8'));
    return typeof mainRoot === 'string' ? mainRoot : null;
  } catch {
    return null;
  }
}

/** Whether the owner record names this main checkout; one is made in a directory that has none yet and holds nothing. */
export async function isOwnedBy(home: ManagedHome, main: RepositoryCapability): Promise<boolean> {
  const name = ownerRecordNames[scheme];
  const { gitDirectory } = main.repository;
  const record = await home.records.read(name);
  if (record !== null) {
    return isRecordOf(scheme, record.bytes, { path: main.root, root: main.held.directory, gitDirectory });
  }
  const isOurTemporary = (entry: string) => entry.startsWith('.wa-');
  if (!(await home.records.names()).every(isOurTemporary)) return false;
  return home.records.create(name, printOwnerRecord(main.root, gitDirectory, Date.now()));
}

async function openRoot(native: NativeBinding, path: string): Promise<DirectoryHandle> {
  try {
    const parent = await native.openRoot(dirname(path), {});
    try {
      return await makeAndOpen(parent, basename(path));
    } finally {
      parent.close();
    }
  } catch (error) {
    throw asUnusable(error);
  }
}

async function openBelow(
  root: DirectoryHandle,
  rootPath: string,
  name: string,
  make: boolean,
): Promise<ManagedHome | null> {
  const directory = make ? await makeAndOpen(root, name) : await root.openDirectory(name);
  const path = `${rootPath}/${name}`;
  const { uid, mode } = directory.identity();
  if (uid !== process.geteuid?.() || (mode & 0o022) !== 0) {
    directory.close();
    if (make) throw unusable('others may write to it');
    return null;
  }
  return {
    path,
    directory,
    records: new RecordStore(directory),
    async assertInPlace() {
      const here = await directory.leadsHere(path).catch(() => false);
      if (!here) throw unusable('its path leads elsewhere');
    },
    [Symbol.dispose]: () => directory.close(),
  };
}

async function makeAndOpen(parent: DirectoryHandle, name: string): Promise<DirectoryHandle> {
  await parent.makeDirectory(name, 0o700, null).catch((error: unknown) => {
    if (codeOf(error) !== 'EEXIST') throw error;
  });
  return parent.openDirectory(name);
}

function asUnusable(error: unknown): unknown {
  const code = codeOf(error);
  if (isAuthorityError(error) || code === null) return error;
  if (code === 'ENOSPC' || code === 'EDQUOT') return new AuthorityError('no_space', { cause: error });
  return unusable(code === 'ELOOP' ? 'is a symbolic link' : code, error);
}

function unusable(reason: string, cause?: unknown): AuthorityError {
  return new AuthorityError('managed_root_unusable', { details: { reason }, cause });
}
