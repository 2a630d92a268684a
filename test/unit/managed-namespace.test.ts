import { describe, expect, it } from 'vitest';
import type { DirectoryHandle } from '../../src/capability/handles.ts';
import { type LiveIdentity, toStoredIdentity } from '../../src/capability/identity.ts';
import {
  authorityHash,
  findNamespace,
  isHashOf,
  isRecordOf,
  type ManagedRoot,
  pluginHash,
  printOwnerRecord,
} from '../../src/proof/managed-namespace.ts';

const roots: readonly ManagedRoot[] = [
  { path: '/home/u/.dsh/worktrees', scheme: 'plugin' },
  { path: '/state/worktrees', scheme: 'authority' },
  { path: '/state/worktrees/deeper', scheme: 'plugin' },
];
const [plugin, own, deeper] = roots;

const places: readonly (readonly [path: string, root: ManagedRoot | undefined, hashName: string])[] = [
  ['/home/u/.dsh/worktrees/12345678/leaf', plugin, '12345678'],
  ['/state/worktrees/abc/leaf', own, 'abc'],
  ['/state/worktrees/deeper/abc/leaf', deeper, 'abc'],
  ['/state/worktrees/abc', undefined, ''],
  ['/state/worktrees', undefined, ''],
  ['/state/worktrees/abc/leaf/sub', undefined, ''],
  ['/state/worktreesx/abc/leaf', undefined, ''],
  ['/elsewhere/state/worktrees/abc/leaf', undefined, ''],
];

/** The first eight digits, in base 36, of the first 64 bits of SHA-256, padded to 13; computed by another program. */
const pluginHashes: readonly (readonly [path: string, hash: string])[] = [
  ['/srv/project', '17dvb7zb'],
  ['/home/u/näïve', '1ovjwek4'],
  ['/', '23r2zet3'],
  ['/r9', '00xdj89i'],
];

describe('the place of a managed worktree', () => {
  it.each(places)('R25: %s', (path, root, hashName) => {
    expect(findNamespace(roots, path)).toEqual(root === undefined ? null : { root, hashName });
  });

  it('R25: without managed roots there is none', () => {
    expect(findNamespace([], '/state/worktrees/abc/leaf')).toBeNull();
  });
});

describe('the name of a hash directory', () => {
  it.each(pluginHashes)('as the plugin names the one of %s', (path, hash) => {
    expect(pluginHash(path)).toBe(hash);
    expect(isHashOf('plugin', hash, path)).toBe(true);
    expect(isHashOf('plugin', hash.toUpperCase(), path)).toBe(hash.toUpperCase() === hash);
    expect(isHashOf('plugin', `${hash}-1`, path)).toBe(false);
    expect(isHashOf('plugin', hash, `${path}x`)).toBe(false);
  });

  it('W35: ours has 128 bits', () => {
    // sha256sum(1) of "/srv/project".
    expect(authorityHash('/srv/project')).toBe('4f3f91f6b0b47e3bebd44da0bf365177');
  });

  it('W35: ours may carry a number after a collision, written in one way', () => {
    const hash = authorityHash('/r');
    for (const name of [hash, `${hash}-1`, `${hash}-10`, `${hash}-9999`]) {
      expect([name, isHashOf('authority', name, '/r')]).toEqual([name, true]);
    }
    const others = ['', '-', '-0', '-01', '-10000', '-1-1', '-x', '.1', ' '];
    for (const name of [...others.map((end) => hash + end).slice(1), '', hash.slice(1), hash.toUpperCase()]) {
      expect([name, isHashOf('authority', name, '/r')]).toEqual([name, false]);
    }
    expect(isHashOf('authority', pluginHash('/r'), '/r')).toBe(false);
    expect(isHashOf('plugin', hash, '/r')).toBe(false);
  });
});

const live: LiveIdentity = {
  device: 2049n,
  inode: 2n ** 60n + 1n,
  mountId: 29n,
  mountIdUnique: true,
  fileSystemId: 7n,
  handle: { type: 1, bytes: Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8) },
  birthTimeNs: 1n,
  mode: 0o40755,
  uid: 0,
  gid: 0,
  linkCount: 3,
};

/** Only who it is matters here. */
function directory(parts: Partial<LiveIdentity> = {}): DirectoryHandle {
  const identity = { ...live, ...parts };
  const part: Pick<DirectoryHandle, 'identity' | 'place'> = {
    identity: () => identity,
    place: () => identity,
  };
  return part as DirectoryHandle;
}

const main = { path: '/r', root: directory(), gitDirectory: directory({ inode: 5n }) };

function pluginRecord(said: object = {}): Uint8Array {
  const record = { version: 1, mainRepoRoot: '/r', dev: '2049', ino: `${live.inode}`, createdAt: 1 };
  return Buffer.from(JSON.stringify({ ...record, ...said }));
}

describe('the owner record of the plugin', () => {
  it.each<readonly [what: string, said: object, matches: boolean]>([
    ['as it is written', {}, true],
    ['W33: another device number', { dev: '1' }, true],
    ['W33: no device number', { dev: undefined }, true],
    ['a field of a later release', { later: 1 }, true],
    ['W34: an inode that a JavaScript number cannot tell apart', { ino: `${2n ** 60n}` }, false],
    ['W34: the inode as a number', { ino: Number(live.inode) }, false],
    ['the inode with a sign', { ino: `+${live.inode}` }, false],
    ['the inode in hex', { ino: `0x${live.inode.toString(16)}` }, false],
    ['another main root', { mainRepoRoot: '/s' }, false],
    ['another spelling of the main root', { mainRepoRoot: '/r/' }, false],
    ['another version', { version: 2 }, false],
  ])('%s', (_, said, matches) => {
    expect(isRecordOf('plugin', pluginRecord(said), main)).toBe(matches);
  });
});

describe('our owner record', () => {
  const printed = printOwnerRecord('/r', main.gitDirectory, 1);

  it('is read as it was printed', () => {
    expect(isRecordOf('authority', printed, main)).toBe(true);
    expect(JSON.parse(Buffer.from(printed).toString())).toEqual({
      version: 2,
      mainRoot: '/r',
      gitDirectory: toStoredIdentity(main.gitDirectory.identity()),
      createdAtMs: 1,
    });
  });

  it('W33: outlives a reboot', () => {
    const gitDirectory = directory({ inode: 5n, device: 1n, mountId: 2n });
    expect(isRecordOf('authority', printed, { ...main, gitDirectory })).toBe(true);
  });

  it('W36: repositories in one directory do not share it', () => {
    expect(isRecordOf('authority', printed, { ...main, gitDirectory: directory({ inode: 6n }) })).toBe(false);
    expect(isRecordOf('authority', printed, { ...main, path: '/s' })).toBe(false);
  });

  it('is none in the other scheme', () => {
    expect(isRecordOf('plugin', printed, main)).toBe(false);
    expect(isRecordOf('authority', pluginRecord(), main)).toBe(false);
  });

  it.each(['', '{', '[]', 'null', '"x"', '{}'])('R26: %j is nobody’s', (text) => {
    expect(isRecordOf('authority', Buffer.from(text), main)).toBe(false);
    expect(isRecordOf('plugin', Buffer.from(text), main)).toBe(false);
  });
});
