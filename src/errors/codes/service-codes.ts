/** Waiting, and what the host, the kernel or a dependency cannot do. */
export const serviceCodes = {
  busy: {
    kind: 'unavailable',
    status: 503,
    title: 'The path kept changing while it was opened.',
    retryable: true,
  },
  queue_full: {
    kind: 'unavailable',
    status: 503,
    title: 'Too many changes are waiting for this place.',
    retryable: true,
  },
  deadline_exceeded: {
    kind: 'unavailable',
    status: 504,
    title: 'The operation did not get its turn in time.',
    retryable: true,
  },
  aborted: { kind: 'unavailable', status: 499, title: 'The caller went away.' },
  shutting_down: {
    kind: 'unavailable',
    status: 503,
    title: 'The server is stopping.',
    retryable: true,
    legacy: 'API is stopping',
  },
  platform_unsupported: {
    kind: 'unsupported',
    status: 503,
    title: 'This platform has no confined file access; only Linux is supported.',
  },
  native_addon_missing: {
    kind: 'unavailable',
    status: 503,
    title: 'The native addon is not built for this machine.',
  },
  kernel_capability_missing: {
    kind: 'unavailable',
    status: 503,
    title: 'The kernel does not offer openat2 to this process.',
    legacy: 'stable-target-unavailable',
  },
  atomic_exchange_unavailable: {
    kind: 'unavailable',
    status: 503,
    title: 'atomic file exchange unavailable: this file system cannot swap two names atomically.',
  },
  file_system_read_only: { kind: 'unavailable', status: 503, title: 'The file system is mounted read-only.' },
  no_space: { kind: 'unavailable', status: 507, title: 'The file system or quota is full.', retryable: true },
  storage_failed: {
    kind: 'unavailable',
    status: 503,
    title: 'The storage reported an error.',
    retryable: true,
  },
  too_many_open_files: {
    kind: 'unavailable',
    status: 503,
    title: 'The process has no free file descriptors.',
    retryable: true,
  },
  registry_unavailable: {
    kind: 'unavailable',
    status: 503,
    title: 'The workspace registry cannot be read.',
    retryable: true,
  },
  state_unavailable: { kind: 'unavailable', status: 503, title: 'A state file cannot be read or written.' },
  prover_unavailable: {
    kind: 'unavailable',
    status: 503,
    title: 'The repository could not be proven in time.',
    retryable: true,
  },
  not_offered: { kind: 'unsupported', status: 501, title: 'This server does not offer the operation.' },
  internal_error: { kind: 'internal', status: 500, title: 'The server failed; the log has the request id.' },
} as const;
