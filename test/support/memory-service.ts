import { createHash } from 'node:crypto';
import type { BeneathPath } from '../../src/capability/beneath-path.ts';
import type { FileCapability } from '../../src/capability/file-capability.ts';
import { AuthorityError } from '../../src/errors/index.ts';
import type { BaseVersion, FileVersion, WorkspaceFiles } from '../../src/files/workspace-files.ts';
import type { Readiness, Service } from '../../src/service.ts';

/** Roots, each with the contents of its files by path. */
export type MemoryRoots = Map<string, Map<string, Uint8Array>>;

/**
 * A service over a map, for tests of the HTTP room alone: what a gate lets through, what a failure looks like, what happens when an
 * operation hangs. Anything about real files is tested with the real service.
 */
export function memoryService(roots: MemoryRoots, overrides: Partial<WorkspaceFiles> = {}): Service {
  const contentOf = (capability: FileCapability, path: BeneathPath): Uint8Array => {
    const bytes = roots.get(capability.root)?.get(path);
    if (bytes === undefined) throw new AuthorityError('not_found');
    return bytes;
  };
  const files: WorkspaceFiles = {
    read: async (capability, path, options) => {
      const bytes = contentOf(capability, path);
      const { limit = Number.POSITIVE_INFINITY } = options ?? {};
      if (bytes.length > limit)
        throw new AuthorityError('file_too_large', { details: { size: bytes.length } });
      return { ...versionOf(bytes), bytes, modifiedMs: 0, executable: false };
    },
    open: async (capability, path) => {
      const bytes = contentOf(capability, path);
      return {
        size: bytes.length,
        modifiedMs: 0,
        etag: async () => versionOf(bytes).etag,
        readAt: async (position, length) => bytes.subarray(position, position + length),
        [Symbol.dispose]: () => undefined,
      };
    },
    list: async (capability) => ({
      cursor: null,
      entries: [...(roots.get(capability.root)?.keys() ?? [])].map((name) => ({
        name,
        undecodable: false,
        type: 'file' as const,
        size: roots.get(capability.root)?.get(name)?.length ?? 0,
        modifiedMs: 0,
        executable: false,
        linkTarget: null,
      })),
    }),
    replace: async (capability, path, bytes, base) => {
      holds(versionOf(contentOf(capability, path)), base);
      roots.get(capability.root)?.set(path, bytes);
      return { ...versionOf(bytes), kept: [] };
    },
    create: async (capability, path, bytes) => {
      if (roots.get(capability.root)?.has(path) === true) throw new AuthorityError('already_exists');
      roots.get(capability.root)?.set(path, bytes);
      return versionOf(bytes);
    },
    remove: async (capability, path, base) => {
      holds(versionOf(contentOf(capability, path)), base);
      roots.get(capability.root)?.delete(path);
    },
    rename: async () => undefined,
    makeDirectory: async () => undefined,
    removeDirectory: async () => undefined,
    recover: async () => ({ actions: [], directoriesExamined: 0, complete: true }),
    ...overrides,
  };
  const authorize = async (selector: string): Promise<FileCapability> => {
    if (!roots.has(selector)) throw new AuthorityError('workspace_not_authorized');
    return memoryCapability(selector);
  };
  const noRepository = () => Promise.reject(new AuthorityError('git_repository_required'));
  return {
    authority: {
      authorize,
      authorizeRepository: noRepository,
      mainCheckoutOf: noRepository,
      explain: async (selector) => ({
        selector,
        authorized: roots.has(selector),
        facts: [],
        result: null,
        refusal: null,
      }),
      closeUnregistered: async () => undefined,
      close: async () => undefined,
    },
    files,
    workspaces: null,
    repositories: {
      detect: async (selector) => {
        await authorize(selector);
        return { isGit: false };
      },
      worktrees: async (selector) => {
        await authorize(selector);
        return { isGit: false, items: [] };
      },
    },
    events: { subscribe: noRepository, note: () => undefined },
    snapshots: {
      read: async (selector) => {
        await authorize(selector);
        return { cwd: selector, isGit: false, at: 0 };
      },
      readMany: async (selectors) => {
        await Promise.all(selectors.map(authorize));
        return { found: new Map(), failed: new Map() };
      },
    },
    reads: {
      branches: async (selector) => {
        await authorize(selector);
        return null;
      },
      commits: () => Promise.reject(new AuthorityError('git_repository_required')),
      diff: () => Promise.reject(new AuthorityError('git_repository_required')),
      actions: noRepository,
    },
    pulls: { list: noRepository, find: noRepository },
    actions: {
      commit: noRepository,
      fetch: noRepository,
      push: noRepository,
      pull: noRepository,
      updateFromBase: noRepository,
      mergeToBase: noRepository,
      discard: noRepository,
      discarded: noRepository,
      restoreDiscarded: noRepository,
    },
    worktrees: { create: noRepository, recover: async () => [] },
    worktreeArchives: {
      preflight: noRepository,
      archive: noRepository,
      archived: noRepository,
      deferred: noRepository,
      finalize: noRepository,
      workspaces: noRepository,
      restore: noRepository,
      recover: async () => [],
    },
    sessions: null,
    occupants: () => Promise.reject(new AuthorityError('session_guard_unavailable')),
    confirmWorkspace: () => Promise.reject(new AuthorityError('not_offered')),
    readiness: async () => memoryReadiness,
    close: async () => undefined,
    [Symbol.asyncDispose]: async () => undefined,
  };
}

const memoryReadiness: Readiness = {
  ready: true,
  version: '0.0.0',
  kernel: { openat2: true, code: null, hint: null },
  prover: { mode: 'git', active: 'git', nodegit: 'absent', gitVersion: '2.39.5' },
  registry: { readable: true, rows: 1, code: null },
  sessions: { readable: true, open: 0, code: null },
  roots: [],
};

function memoryCapability(root: string): FileCapability {
  const capability = {
    kind: 'workspace',
    gitBoundary: 'none',
    root,
    assertCurrent: async () => undefined,
    [Symbol.asyncDispose]: async () => undefined,
  };
  return { ...capability, retain: () => memoryCapability(root) } as unknown as FileCapability;
}

function versionOf(bytes: Uint8Array): FileVersion {
  return {
    sha1: createHash('sha1').update(bytes).digest('hex'),
    etag: `"sha256-${createHash('sha256').update(bytes).digest('base64url')}"`,
    size: bytes.length,
  };
}

function holds(now: FileVersion, base: BaseVersion): void {
  const details = { sha1: now.sha1, etag: now.etag };
  if (base.sha1 !== undefined && base.sha1 !== now.sha1) throw new AuthorityError('conflict', { details });
  if (base.etag !== undefined && base.etag !== now.etag)
    throw new AuthorityError('precondition_failed', { details });
}
