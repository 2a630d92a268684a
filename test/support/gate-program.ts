import { readFile, writeFile } from 'node:fs/promises';
import { openStateDirectory } from '../../src/capability/state-directory.ts';
import { isAuthorityError } from '../../src/errors/index.ts';
import { createMutationGate } from '../../src/mutation/gate.ts';
import { Leases } from '../../src/mutation/leases.ts';
import type { GateKey } from '../../src/mutation/mutation-gate.ts';
import { testBinding } from './test-binding.ts';

/**
 * A process with a gate over a state directory, told by messages what to run: gate-program <state directory>. It answers `ready`,
 * then `entered`, `left` or a code for each task.
 */
export interface GateOrder {
  readonly id: number;
  readonly keys: readonly GateKey[];
  readonly waitMs?: number;
  /** A file with a number in it that the task raises by one, in steps that others can get between; else it waits for `release`. */
  readonly counter?: string;
}

export interface GateEvent {
  readonly id: number;
  readonly event: string;
}

const state = await openStateDirectory(process.argv[2] as string, testBinding);
const gate = createMutationGate({ leases: await Leases.open(state) });
const releases = new Map<number, () => void>();

process.on('message', (order: GateOrder | { readonly release: number }) => {
  if ('release' in order) releases.get(order.release)?.();
  else void run(order);
});
process.on('disconnect', () => process.exit());
report(0, 'ready');

async function run({ id, keys, waitMs, counter }: GateOrder): Promise<void> {
  try {
    const task = () => (counter === undefined ? hold(id) : raise(counter));
    await gate.run(keys, task, waitMs === undefined ? {} : { waitMs });
    report(id, 'left');
  } catch (error) {
    report(id, isAuthorityError(error) ? error.code : String(error));
  }
}

async function hold(id: number): Promise<void> {
  await new Promise<void>((resolve) => {
    releases.set(id, resolve);
    report(id, 'entered');
  });
}

async function raise(counter: string): Promise<void> {
  const before = Number(await readFile(counter, 'utf8'));
  await writeFile(counter, String(before + 1));
}

function report(id: number, event: string): void {
  process.send?.({ id, event } satisfies GateEvent);
}
