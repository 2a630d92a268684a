/**
 * Who may import whom: design section 2 as data. A room is a directory of `src`, or a file that lies in `src` itself. `rooms` may
 * be imported whole, `files` only as far as they are named here, `types` only for types: contracts whose objects come from elsewhere.
 */
export interface RoomRule {
  readonly rooms: readonly string[];
  readonly files?: readonly string[];
  readonly types?: readonly string[];
}

export const roomRules: Readonly<Record<string, RoomRule>> = {
  errors: { rooms: [] },
  native: { rooms: ['errors'] },
  capability: { rooms: ['errors', 'native'] },
  mutation: { rooms: ['errors', 'capability'] },
  registry: { rooms: ['errors', 'capability', 'mutation'] },
  files: { rooms: ['errors', 'capability', 'mutation'] },
  archive: { rooms: ['errors', 'capability', 'mutation'] },
  git: { rooms: ['errors', 'capability'] },
  forge: { rooms: ['errors'], files: ['git/values.ts', 'git/remote-address.ts'] },
  proof: { rooms: ['errors', 'capability', 'git'] },
  authority: {
    rooms: ['errors', 'capability', 'proof'],
    files: ['registry/workspace-registry.ts'],
  },
  events: { rooms: ['errors'] },
  actions: {
    rooms: ['errors', 'capability', 'git', 'mutation', 'authority', 'archive'],
    files: ['events/clock.ts'],
  },
  sessions: { rooms: ['errors', 'capability', 'mutation'] },
  snapshot: {
    rooms: ['errors', 'capability', 'git', 'authority', 'events'],
    files: ['proof/stamp.ts'],
  },
  worktrees: {
    rooms: ['errors', 'capability', 'mutation', 'git', 'proof', 'authority', 'sessions', 'archive'],
    files: ['actions/in-family.ts', 'actions/discard-confirmations.ts', 'registry/workspace-registry.ts'],
  },
  service: {
    rooms: [
      'errors',
      'native',
      'capability',
      'mutation',
      'registry',
      'files',
      'git',
      'forge',
      'proof',
      'authority',
      'events',
      'actions',
      'snapshot',
      'sessions',
      'archive',
      'worktrees',
    ],
  },
  http: {
    rooms: ['errors', 'service'],
    files: ['capability/beneath-path.ts', 'git/values.ts'],
    types: [
      'actions/repository-actions.ts',
      'authority/authority.ts',
      'capability/file-capability.ts',
      'events/feed-event.ts',
      'files/workspace-files.ts',
      'registry/workspace-registry.ts',
      'sessions/session-table.ts',
      'snapshot/snapshot.ts',
    ],
  },
  dsh: {
    rooms: ['errors', 'service', 'http'],
    types: ['registry/workspace-registry.ts', 'sessions/session-guard.ts'],
  },
  cli: { rooms: [], files: ['index.ts', 'http/index.ts'] },
  index: { rooms: ['errors', 'capability', 'registry', 'files', 'forge', 'authority', 'service'] },
};

/** Packages, and the rooms they may be used in. Any package that is not named here is refused. */
export const packageRules: Readonly<Record<string, readonly string[]>> = {
  '@octokit/core': ['forge'],
  '@octokit/plugin-retry': ['forge'],
  '@octokit/plugin-throttling': ['forge'],
  'content-type': ['http'],
  cookie: ['http'],
  express: ['http'],
  'express-rate-limit': ['http'],
  helmet: ['http'],
  pino: ['http'],
  zod: ['http', 'forge'],
  'pkg-prebuilds': ['native'],
};

/** Builtins that reach outside this process, and the files that may use them; the harmless ones are listed below. */
export const builtinRules: Readonly<Record<string, readonly string[]>> = {
  'node:child_process': ['git/run-git.ts', 'proof/nodegit-process.ts'],
  'node:fs': [
    'archive/held-names.ts',
    'capability/process-owner.ts',
    'capability/state-log.ts',
    'git/run-git.ts',
    'service/version.ts',
    'snapshot/directory-watch.ts',
  ],
  'node:fs/promises': [
    'archive/held-names.ts',
    'capability/state-directory.ts',
    'capability/state-log.ts',
    'authority/canonical-path.ts',
    'dsh/dsh-home.ts',
    'dsh/session-logs.ts',
    'git/read-link.ts',
    'sessions/directory-lookup.ts',
    'sessions/processes-inside.ts',
  ],
  'node:module': ['native/load.ts'],
  'node:worker_threads': ['native/load.ts'],
  'node:http': ['http/'],
};

/** Builtins that compute and name things, and touch nothing outside this process. */
export const harmlessBuiltins: ReadonlySet<string> = new Set([
  'node:buffer',
  'node:crypto',
  'node:events',
  'node:os',
  'node:path',
  'node:path/posix',
  'node:stream',
  'node:url',
  'node:util',
]);

/** Files outside `src` that come with the package, and who may import them. */
export const outsideRules: Readonly<Record<string, readonly string[]>> = {
  '../scripts/nodegit.mjs': ['service/nodegit-state.ts', 'cli/commands/setup.ts'],
};

/** Making capabilities is the privilege of those that prove. */
export const mintingFile = 'capability/mint.ts';
export const mintingRooms: readonly string[] = ['proof', 'authority'];
