import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { nodegitState } from '../../scripts/nodegit.mjs';
import type { Authority } from '../../src/authority/authority.ts';
import { createAuthority } from '../../src/authority/create-authority.ts';
import type { AuthorityOptions } from '../../src/authority/ports.ts';
import type { WorkspaceSurveyor } from '../../src/authority/survey-workspace.ts';
import { type StoredIdentity, toStoredIdentity } from '../../src/capability/identity.ts';
import { createGitRunner, type GitRunner } from '../../src/git/run-git.ts';
import { createProvers, type NodegitState, type ProverMode, type Provers } from '../../src/proof/provers.ts';
import type { WorkspaceRow } from '../../src/registry/workspace-registry.ts';
import { deathGuard, native } from './addon.ts';
import { MemoryRegistry } from './memory-registry.ts';

/** An authority over real directories below one temporary directory, with real provers. */
export interface AuthorityLab extends AsyncDisposable {
  readonly place: string;
  readonly registry: MemoryRegistry;
  readonly authority: Authority & WorkspaceSurveyor;
  readonly provers: Provers;
  readonly git: GitRunner;
  /** Registers a directory below `place` with the identity it has now. */
  register(name: string, parts?: Partial<WorkspaceRow>): Promise<string>;
}

export interface LabOptions extends Partial<AuthorityOptions> {
  readonly mode?: ProverMode;
  readonly nodegitState?: () => NodegitState;
  readonly place?: string;
  readonly gitProgram?: string;
}

export async function makePlace(): Promise<string> {
  return mkdtemp(join(await realpath(tmpdir()), 'wa-proof-'));
}

export async function createLab(options: LabOptions = {}): Promise<AuthorityLab> {
  const place = options.place ?? (await makePlace());
  const registry = new MemoryRegistry();
  const { gitProgram } = options;
  const git = createGitRunner({ deathGuard, ...(gitProgram === undefined ? {} : { gitProgram }) });
  const provers = createProvers({
    mode: options.mode ?? 'auto',
    git,
    nodegitState: options.nodegitState ?? nodegitState,
    deathGuard,
  });
  const authority = createAuthority({
    native,
    registry,
    prover: provers,
    protectedDirectories: [],
    ...options,
  });
  return {
    place,
    registry,
    authority,
    provers,
    git,
    async register(name, parts = {}) {
      const path = join(place, name);
      const handle = await native.openRoot(path, {});
      const identity = toStoredIdentity(handle.identity());
      handle.close();
      registry.register(path, { identity, ...parts });
      return path;
    },
    async [Symbol.asyncDispose]() {
      await authority.close();
      await provers.close();
      await git.close();
      if (options.place === undefined) await rm(place, { recursive: true, force: true });
    },
  };
}

/** The identity of a directory as a row would keep it; null where no directory can be opened under the path. */
export async function identityOf(path: string): Promise<StoredIdentity | null> {
  const directory = await native.openRoot(path, {}).catch(() => null);
  if (directory === null) return null;
  const identity = toStoredIdentity(directory.identity());
  directory.close();
  return identity;
}
