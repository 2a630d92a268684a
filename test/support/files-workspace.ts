import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type BeneathPath, parseBeneathPath } from '../../src/capability/beneath-path.ts';
import type { Confinement } from '../../src/capability/confinement.ts';
import type { FileCapability } from '../../src/capability/file-capability.ts';
import type { HeldRoot } from '../../src/capability/held-root.ts';
import { mintFileCapability } from '../../src/capability/mint.ts';
import { openHeldRoot } from '../../src/capability/open-held-root.ts';
import { AuthorityError, isAuthorityError } from '../../src/errors/index.ts';
import { createWorkspaceFiles, type WorkspaceFilesOptions } from '../../src/files/create-workspace-files.ts';
import type { WorkspaceFiles } from '../../src/files/workspace-files.ts';
import { isAdministrativeName } from '../../src/git/administrative-name.ts';
import { gitDirectoryShape } from '../../src/git/git-directory-shape.ts';
import { createMutationGate } from '../../src/mutation/gate.ts';
import type { MutationGate } from '../../src/mutation/mutation-gate.ts';
import { testBinding } from './test-binding.ts';
import { makeTree, readTree } from './tree.ts';

export interface WorkspaceSettings {
  /** Below the root, in the notation of `makeTree`. `$OUT` stands for the directory outside. */
  readonly tree?: readonly string[];
  /** Below the directory outside. */
  readonly outside?: readonly string[];
  readonly allowMounts?: boolean;
  readonly closedIdentities?: Confinement['closedIdentities'];
  readonly files?: Partial<WorkspaceFilesOptions>;
  /** A directory that exists already, instead of one below a new temporary directory. */
  readonly root?: string;
}

/** A root and a directory beside it, a capability for the root as the authority makes them, and the operations. Ends with the test. */
export interface Workspace {
  readonly root: string;
  readonly outside: string;
  readonly held: HeldRoot;
  readonly capability: FileCapability;
  readonly gate: MutationGate;
  readonly files: WorkspaceFiles;
  /** What stands below the root, links with `$OUT` again. */
  tree(): Promise<readonly string[]>;
}

export async function openWorkspace(settings: WorkspaceSettings = {}): Promise<Workspace> {
  const base = await realpath(await mkdtemp(join(tmpdir(), 'wa-files-')));
  onTestFinished(() => rm(base, { recursive: true, force: true }));
  const root = settings.root ?? join(base, 'root');
  const outside = join(base, 'outside');
  await mkdir(root, { recursive: true });
  await mkdir(outside);
  await makeTree(outside, settings.outside ?? []);
  await makeTree(
    root,
    (settings.tree ?? []).map((line) => line.replaceAll('$OUT', outside).replaceAll('$ROOT', root)),
  );
  const held = await openHeldRoot(testBinding, root, {
    allowMounts: settings.allowMounts ?? false,
    confinement: {
      isClosedName: isAdministrativeName,
      closedShape: gitDirectoryShape,
      closedIdentities: settings.closedIdentities ?? [],
    },
  });
  const capability = capabilityFor(held);
  onTestFinished(() => capability[Symbol.asyncDispose]());
  const gate = createMutationGate({ leases: null });
  const files = createWorkspaceFiles({ gate, ...settings.files });
  const tree = async () =>
    (await readTree(root)).map((line) => line.replaceAll(outside, '$OUT').replaceAll(root, '$ROOT'));
  return { root, outside, held, capability, gate, files, tree };
}

/** Proves the root by its name, as the authority does besides looking at the registry. */
function capabilityFor(held: HeldRoot): FileCapability {
  return mintFileCapability({
    kind: 'workspace',
    gitBoundary: 'none',
    held,
    assertCurrent: async () => {
      if (!(await held.isInPlace()))
        throw new AuthorityError('identity_changed', { details: { what: 'root' } });
    },
  });
}

export function beneath(path: string): BeneathPath {
  return parseBeneathPath(path);
}

export function text(content: string): Uint8Array {
  return Buffer.from(content);
}

/** `ok`, or the code of the refusal; anything else that is thrown fails the test. */
export async function outcomeOf(operation: Promise<unknown>): Promise<string> {
  try {
    await operation;
    return 'ok';
  } catch (error) {
    if (isAuthorityError(error)) return error.code;
    throw error;
  }
}

/** The refusal of an operation that must not succeed. */
export async function refusalOf(operation: Promise<unknown>): Promise<AuthorityError> {
  try {
    await operation;
  } catch (error) {
    if (isAuthorityError(error)) return error;
    throw error;
  }
  throw new Error('the operation was not refused');
}
