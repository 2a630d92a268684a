import type { NativeIdentity } from '../native/binding.ts';

/**
 * Identity of an inode that this process holds open: while the handle lives its inode number cannot be reused, so device,
 * inode and mount decide (decisions 1.9).
 */
export type LiveIdentity = NativeIdentity;

/**
 * Identity that survives a reboot: no device number (they change over reboots and remounts, W33). `handle` is the file handle or
 * FID in hex; where the file system gives none, the birth time must agree instead. All numbers are decimal strings.
 */
export interface StoredIdentity {
  readonly inode: string;
  readonly fileSystemId: string;
  readonly handle: string | null;
  readonly birthTimeNs: string | null;
}

export function sameLiveIdentity(left: LiveIdentity, right: LiveIdentity): boolean {
  return (
    left.device === right.device &&
    left.inode === right.inode &&
    left.mountId === right.mountId &&
    handleText(left) === handleText(right)
  );
}

export function toStoredIdentity(live: LiveIdentity): StoredIdentity {
  return {
    inode: live.inode.toString(),
    fileSystemId: live.fileSystemId.toString(),
    handle: handleText(live),
    birthTimeNs: live.birthTimeNs === null ? null : live.birthTimeNs.toString(),
  };
}

/**
 * A handle (inode and generation, name_to_handle_at(2)) is the strongest evidence. Birth time counts only without one: on
 * overlayfs the first write copies the file up and changes it on the very same inode.
 */
export function matchesStoredIdentity(live: LiveIdentity, stored: StoredIdentity): boolean {
  const now = toStoredIdentity(live);
  if (now.inode !== stored.inode) return false;
  if (now.handle !== null && stored.handle !== null) return now.handle === stored.handle;
  if (now.fileSystemId !== stored.fileSystemId) return false;
  return now.birthTimeNs !== null && now.birthTimeNs === stored.birthTimeNs;
}

function handleText(identity: LiveIdentity): string | null {
  if (identity.handle === null) return null;
  return `${identity.handle.type}:${Buffer.from(identity.handle.bytes).toString('hex')}`;
}
