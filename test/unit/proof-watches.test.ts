import { describe, expect, it } from 'vitest';
import { type DirectoryHandle, fileFacts, type NativeEntry } from '../../src/capability/handles.ts';
import { FileWatch } from '../../src/proof/file-watch.ts';
import { NameWatch } from '../../src/proof/name-watch.ts';
import { stampOfFacts } from '../../src/proof/stamp.ts';

interface Item {
  inode: bigint;
  changedNs: bigint;
  modifiedNs: bigint;
  mode: bigint;
  bytes: string;
}

const directoryMode = 0o40755n;
const fileMode = 0o100644n;

/** A directory whose clock a test sets: here a change can keep every time, as on file systems with a coarse clock. */
class CoarseDirectory {
  readonly items = new Map<string, Item>();
  cached = true;

  put(path: string, parts: Partial<Item> = {}): Item {
    const old = Date.UTC(2020, 0, 1);
    const item = {
      inode: 7n,
      changedNs: BigInt(old) * 1_000_000n,
      modifiedNs: 1n,
      mode: fileMode,
      bytes: 'text',
      ...parts,
    };
    this.items.set(path, item);
    return item;
  }

  get handle(): DirectoryHandle {
    const find = (path: string): Item => {
      const item = this.items.get(path);
      if (item === undefined) throw Object.assign(new Error('absent'), { code: 'ENOENT' });
      return item;
    };
    const fill = (item: Item, facts: BigInt64Array): void => {
      facts[fileFacts.size] = BigInt(item.bytes.length);
      facts[fileFacts.inode] = item.inode;
      facts[fileFacts.device] = 1n;
      facts[fileFacts.mode] = item.mode;
      facts[fileFacts.changedNs] = item.changedNs;
      facts[fileFacts.modifiedNs] = item.modifiedNs;
    };
    const read = (path: string, facts: BigInt64Array): Uint8Array => {
      const item = find(path);
      fill(item, facts);
      return Buffer.from(item.bytes);
    };
    const handle: Partial<DirectoryHandle> = {
      factsCached: (path, facts) => {
        if (this.cached) fill(find(String(path)), facts);
        return this.cached;
      },
      readCached: (path, _, facts) => (this.cached ? read(String(path), facts) : undefined),
      read: async (path, _, facts) => read(String(path), facts),
      stat: async (path): Promise<NativeEntry> => {
        const { bytes, mode, ...item } = find(String(path));
        return { ...item, type: 'file', size: bytes.length, mode: Number(mode), device: 1n, linkCount: 1 };
      },
    };
    return handle as DirectoryHandle;
  }
}

/** A change within the last tick: a later one could carry the same time. */
function justNow(): bigint {
  return BigInt(Date.now()) * 1_000_000n;
}

function watchFile(directory: CoarseDirectory, path: string): FileWatch {
  const facts = new BigInt64Array(fileFacts.count);
  directory.handle.factsCached(path, facts);
  const bytes = Buffer.from(directory.items.get(path)?.bytes ?? '');
  return new FileWatch(directory.handle, path, { bytes, stamp: stampOfFacts(facts, Date.now()) });
}

/** Both ways of asking must say the same. */
async function ask(watch: FileWatch | NameWatch): Promise<boolean> {
  const waited = await watch.isUnchangedWaiting();
  expect(watch.isUnchanged()).toBe(waited);
  return waited;
}

describe('the watch over a file', () => {
  it('R06: one look at the stamp is enough when the last change is old', async () => {
    const directory = new CoarseDirectory();
    directory.put('config');
    expect(await ask(watchFile(directory, 'config'))).toBe(true);
  });

  it('R06: sees another content under the same stamp while a change could still hide in the tick', async () => {
    const directory = new CoarseDirectory();
    const item = directory.put('config', { changedNs: justNow() });
    const watch = watchFile(directory, 'config');
    expect(await ask(watch)).toBe(true);
    item.bytes = 'TEXT';
    expect(await ask(watch)).toBe(false);
    item.bytes = 'text';
    expect(await ask(watch)).toBe(true);
  });

  it.each<readonly [string, Partial<Item>]>([
    ['inode', { inode: 8n }],
    ['change time', { changedNs: 5n }],
    ['modification time', { modifiedNs: 5n }],
    ['mode', { mode: 0o100600n }],
    ['size', { bytes: 'longer' }],
  ])('R06: sees another %s', async (_, change) => {
    const directory = new CoarseDirectory();
    const item = directory.put('config');
    const watch = watchFile(directory, 'config');
    Object.assign(item, change);
    expect(await ask(watch)).toBe(false);
    directory.items.clear();
    expect(await ask(watch)).toBe(false);
  });

  it('answers nothing where the kernel would have to wait', async () => {
    const directory = new CoarseDirectory();
    directory.put('config');
    const watch = watchFile(directory, 'config');
    directory.cached = false;
    expect(watch.isUnchanged()).toBeUndefined();
    expect(await watch.isUnchangedWaiting()).toBe(true);
  });
});

describe('the watch over names', () => {
  async function watchNames(directory: CoarseDirectory, onChange?: () => boolean): Promise<NameWatch> {
    return NameWatch.begin(directory.handle, 'd', ['present', 'absent'], onChange);
  }

  function makeDirectory(parts: Partial<Item> = {}): { directory: CoarseDirectory; item: Item } {
    const directory = new CoarseDirectory();
    directory.put('d/present', { inode: 9n });
    return { directory, item: directory.put('d', { mode: directoryMode, bytes: '', ...parts }) };
  }

  it('R06: believes an old stamp of the directory without looking at the names', async () => {
    const { directory } = makeDirectory();
    const watch = await watchNames(directory);
    directory.items.delete('d/present');
    expect(watch.isUnchanged()).toBe(true);
  });

  it.each<readonly [string, (directory: CoarseDirectory) => unknown]>([
    ['a name that comes', (directory) => directory.put('d/absent')],
    ['a name that goes', (directory) => directory.items.delete('d/present')],
    ['another file under a name', (directory) => directory.put('d/present', { inode: 10n })],
    [
      'another kind of file under a name',
      (directory) => directory.put('d/present', { inode: 9n, mode: 0o120777n }),
    ],
  ])('R06: sees %s, with a new stamp and within the tick of the old one', async (_, change) => {
    for (const young of [true, false]) {
      const { directory, item } = makeDirectory(young ? { changedNs: justNow() } : {});
      const watch = await watchNames(directory);
      expect(await ask(watch)).toBe(true);
      change(directory);
      if (!young) item.changedNs += 1n;
      expect(await ask(watch)).toBe(false);
    }
  });

  it('R06: sees another directory under the path, whatever names it holds', async () => {
    const { directory, item } = makeDirectory();
    const watch = await watchNames(directory);
    item.inode = 11n;
    expect(await ask(watch)).toBe(false);
  });

  it('asks once after each change that left the names as they were', async () => {
    let asked = 0;
    const { directory, item } = makeDirectory();
    const watch = await watchNames(directory, () => ++asked < 3);
    expect([watch.isUnchanged(), asked]).toEqual([true, 0]);
    for (const round of [1, 2]) {
      item.changedNs += 1n;
      expect([watch.isUnchanged(), watch.isUnchanged(), asked]).toEqual([true, true, round]);
    }
    item.changedNs += 1n;
    expect(watch.isUnchanged()).toBe(false);
  });

  it('answers nothing where the kernel would have to wait', async () => {
    const { directory } = makeDirectory();
    const watch = await watchNames(directory);
    directory.cached = false;
    expect(watch.isUnchanged()).toBeUndefined();
    expect(await watch.isUnchangedWaiting()).toBe(true);
  });
});
