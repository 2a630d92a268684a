import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, onTestFinished } from 'vitest';
import { openStateDirectory, type StateDirectory } from '../../src/capability/state-directory.ts';
import { isAuthorityError } from '../../src/errors/index.ts';
import { createMutationGate } from '../../src/mutation/gate.ts';
import { Leases } from '../../src/mutation/leases.ts';
import type { MutationGate } from '../../src/mutation/mutation-gate.ts';
import { native } from './addon.ts';

/** A directory of its own for one test, removed after it. */
export async function temporaryDirectory(): Promise<string> {
  const path = await realpath(await mkdtemp(join(tmpdir(), 'wa-state-')));
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  return path;
}

/** A directory for all tests of a file, removed after the last; to be asked for in `beforeAll`. */
export async function keptDirectory(): Promise<string> {
  const path = await realpath(await mkdtemp(join(tmpdir(), 'wa-state-')));
  kept.push(path);
  return path;
}

const kept: string[] = [];
afterAll(async () => {
  for (const path of kept) await rm(path, { recursive: true, force: true });
});

export interface OpenedState {
  readonly state: StateDirectory;
  readonly gate: MutationGate;
}

/** A state directory as one process has it open. */
export async function openState(path: string): Promise<OpenedState> {
  const state = await openStateDirectory(path, native);
  const gate = createMutationGate({ leases: await Leases.open(state) });
  onTestFinished(async () => {
    await gate.close();
    state.close();
  });
  return { state, gate };
}

/** Code and details of what a promise or a function is refused with. */
export async function refusalOf(
  action: () => unknown,
): Promise<{ readonly code: string; readonly details: object }> {
  try {
    await action();
  } catch (error) {
    if (isAuthorityError(error)) return { code: error.code, details: error.details };
    throw error;
  }
  throw new Error('it was not refused');
}
