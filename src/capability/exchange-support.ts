import { AuthorityError } from '../errors/index.ts';
import type { ExchangeProbe, NativePath } from '../native/binding.ts';
import type { HeldRoot } from './held-root.ts';
import { exchangeCall } from './open-held-root.ts';
import { refusalOf, systemFailure } from './refusal.ts';

const hints: Readonly<Record<string, string>> = {
  EINVAL:
    'The file system does not implement RENAME_EXCHANGE (network, 9p and some FUSE file systems do not).',
  ENOSYS: 'The kernel does not offer renameat2 to this process; a container or sandbox may block it.',
  EPERM: 'A seccomp filter or security module forbids renameat2 to this process.',
};
const otherHint = 'Keep the workspace on a local file system such as ext4, xfs, btrfs or tmpfs.';

/**
 * A place can be changed only where names are exchanged atomically; there is no fallback (R16). Where the root itself is not
 * writable, the directory that is about to change is asked instead.
 * @throws `atomic_exchange_unavailable` | `file_system_read_only` | `permission_denied` | `no_space` | ...
 */
export async function assertExchange(held: HeldRoot, parent: NativePath): Promise<void> {
  let probe = await held.exchangeSupport();
  if (isDenied(probe)) probe = await probeBelow(held, parent);
  if (probe.supported) return;
  if (probe.syscall !== exchangeCall) throw refusalOf(systemFailure(probe.code, probe.syscall));
  throw exchangeUnavailable(probe.code);
}

/** @internal Shared with the change itself, which may meet another file system below a mount. */
export function exchangeUnavailable(errno: string | null, cause?: unknown): AuthorityError {
  const hint = (errno === null ? undefined : hints[errno]) ?? otherHint;
  return new AuthorityError('atomic_exchange_unavailable', {
    details: { syscall: exchangeCall, errno, hint },
    cause,
  });
}

function isDenied(probe: ExchangeProbe): boolean {
  return !probe.supported && probe.syscall !== exchangeCall && probe.code === 'EACCES';
}

async function probeBelow(held: HeldRoot, parent: NativePath): Promise<ExchangeProbe> {
  const directory = await held.directory.openDirectory(parent);
  try {
    return await directory.probeExchange();
  } finally {
    directory.close();
  }
}
