import { describe, expect, it } from 'vitest';
import {
  type LiveIdentity,
  matchesStoredIdentity,
  sameLiveIdentity,
  toStoredIdentity,
} from '../../src/capability/identity.ts';

const live: LiveIdentity = {
  device: 2049n,
  inode: 2n ** 60n + 1n,
  mountId: 29n,
  mountIdUnique: true,
  fileSystemId: 0x1234_5678_9abc_def0n,
  handle: { type: 1, bytes: Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8) },
  birthTimeNs: 1_700_000_000_123_456_789n,
  mode: 0o40755,
  uid: 0,
  gid: 0,
  linkCount: 3,
};
const otherHandle = { type: 1, bytes: Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 9) };
const otherType = { type: 2, bytes: Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8) };

const liveRows: readonly (readonly [what: string, change: Partial<LiveIdentity>, same: boolean])[] = [
  ['nothing', {}, true],
  ['the mode, owner and link count', { mode: 0o40700, uid: 1, gid: 1, linkCount: 4 }, true],
  ['the birth time, which overlayfs changes on the first write', { birthTimeNs: 1n }, true],
  ['the inode, by less than a JavaScript number can tell', { inode: 2n ** 60n }, false],
  ['the device', { device: 2050n }, false],
  ['the mount', { mountId: 30n }, false],
  ['the generation in the handle', { handle: otherHandle }, false],
  ['the kind of handle', { handle: otherType }, false],
  ['the handle to none', { handle: null }, false],
];

const storedRows: readonly (readonly [what: string, change: Partial<LiveIdentity>, matches: boolean])[] = [
  ['nothing', {}, true],
  ['the device and mount, as after a reboot', { device: 9n, mountId: 9n }, true],
  ['the birth time while the handle agrees', { birthTimeNs: 1n }, true],
  ['the file system id while the handle agrees', { fileSystemId: 1n }, true],
  ['the inode', { inode: 5n }, false],
  ['the handle', { handle: otherHandle }, false],
  ['the handle to none, birth time and file system the same', { handle: null }, true],
  ['the handle to none, and the birth time', { handle: null, birthTimeNs: 1n }, false],
  ['the handle and birth time to none', { handle: null, birthTimeNs: null }, false],
  ['the handle to none, and the file system', { handle: null, fileSystemId: 1n }, false],
];

describe('identity', () => {
  it.each(liveRows)('R06: a held inode is compared when this differs: %s', (_, change, same) => {
    expect(sameLiveIdentity(live, { ...live, ...change })).toBe(same);
  });

  it.each(storedRows)('R05: a pinned identity is compared when this differs: %s', (_, change, matches) => {
    expect(matchesStoredIdentity({ ...live, ...change }, toStoredIdentity(live))).toBe(matches);
  });

  it('R05: a pin survives the way through JSON', () => {
    const pin = JSON.parse(JSON.stringify(toStoredIdentity(live)));
    expect(matchesStoredIdentity(live, pin)).toBe(true);
  });

  it('R05: two unknown birth times prove nothing', () => {
    const unknown = { ...live, handle: null, birthTimeNs: null };
    expect(matchesStoredIdentity(unknown, toStoredIdentity(unknown))).toBe(false);
  });
});
