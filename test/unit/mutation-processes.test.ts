import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { GateKey } from '../../src/mutation/mutation-gate.ts';
import { bundleProgram } from '../support/bundle.ts';
import type { GateEvent, GateOrder } from '../support/gate-program.ts';
import { keptDirectory, openState, temporaryDirectory } from '../support/state.ts';
import { addonEnvironment } from '../support/test-binding.ts';

let program: string;
beforeAll(async () => {
  program = await bundleProgram('gate-program.ts', await keptDirectory());
});

/** Another process with a gate over the same state directory. */
class GateProcess {
  readonly child: ChildProcess;
  readonly events: GateEvent[] = [];
  #orders = 0;

  private constructor(child: ChildProcess) {
    this.child = child;
    child.on('message', (event: GateEvent) => this.events.push(event));
  }

  static async start(state: string): Promise<GateProcess> {
    const started = new GateProcess(fork(program, [state], { execArgv: [], env: addonEnvironment }));
    onTestFinished(() => void started.child.kill('SIGKILL'));
    await started.seen(0, 'ready');
    return started;
  }

  order(order: Omit<GateOrder, 'id'>): number {
    this.#orders += 1;
    this.child.send({ id: this.#orders, ...order });
    return this.#orders;
  }

  release(id: number): void {
    this.child.send({ release: id });
  }

  async seen(id: number, event: string): Promise<void> {
    const isIt = (seen: GateEvent) => seen.id === id && seen.event === event;
    while (!this.events.some(isIt)) await once(this.child, 'message');
  }

  /** What became of a task. */
  async outcome(id: number): Promise<string> {
    const end = () => this.events.find((seen) => seen.id === id && seen.event !== 'entered');
    while (end() === undefined) await once(this.child, 'message');
    return end()?.event ?? '';
  }
}

async function twoProcesses() {
  const path = join(await temporaryDirectory(), 'state');
  await openState(path);
  const processes = await Promise.all([GateProcess.start(path), GateProcess.start(path)]);
  return { path, one: processes[0] as GateProcess, two: processes[1] as GateProcess };
}

const keys: GateKey[] = ['file:/srv/app/notes.txt'];

describe('R13: two processes over one state directory', () => {
  it('exclude each other on a key, and on no other', async () => {
    const { one, two } = await twoProcesses();
    const first = one.order({ keys });
    await one.seen(first, 'entered');
    const second = two.order({ keys });
    const other = two.order({ keys: ['file:/srv/app/other.txt'] });
    await two.seen(other, 'entered');
    const late = two.order({ keys, waitMs: 50 });
    expect(await two.outcome(late)).toBe('deadline_exceeded');
    expect(two.events).not.toContainEqual({ id: second, event: 'entered' });
    one.release(first);
    await two.seen(second, 'entered');
    expect(await one.outcome(first)).toBe('left');
  });

  it('kill -9 of the holder frees its keys at once', async () => {
    const { one, two } = await twoProcesses();
    const first = one.order({ keys: ['root:/srv/app', ...keys] });
    await one.seen(first, 'entered');
    const waiting = two.order({ keys, waitMs: 10_000 });
    one.child.kill('SIGKILL');
    await two.seen(waiting, 'entered');
    two.release(waiting);
    expect(await two.outcome(waiting)).toBe('left');
  });

  it('a holder that is stopped makes others late, never stuck, and keeps its place', async () => {
    const { one, two } = await twoProcesses();
    const first = one.order({ keys });
    await one.seen(first, 'entered');
    one.child.kill('SIGSTOP');
    const late = two.order({ keys, waitMs: 50 });
    expect(await two.outcome(late)).toBe('deadline_exceeded');
    one.child.kill('SIGCONT');
    one.release(first);
    expect(await one.outcome(first)).toBe('left');
  });

  it('128 tasks of both never overlap, and each process keeps its own order', async () => {
    const { path, one, two } = await twoProcesses();
    const counter = join(path, '../counter');
    await writeFile(counter, '0');
    const order = (gate: GateProcess) => Array.from({ length: 64 }, () => gate.order({ keys, counter }));
    const orders = [one, two].map((gate) => ({ gate, ids: order(gate) }));
    for (const { gate, ids } of orders) {
      for (const id of ids) expect(await gate.outcome(id)).toBe('left');
      expect(gate.events.slice(1).map(({ id }) => id)).toEqual(ids);
    }
    expect(await readFile(counter, 'utf8')).toBe('128');
  });

  it('exclude each other again after somebody deleted the lock files', async () => {
    const { path, one, two } = await twoProcesses();
    for (const gate of [one, two]) {
      const id = gate.order({ keys });
      await gate.seen(id, 'entered');
      gate.release(id);
      await gate.outcome(id);
    }
    await rm(join(path, 'locks'), { recursive: true });
    const first = one.order({ keys });
    await one.seen(first, 'entered');
    const second = two.order({ keys, waitMs: 50 });
    expect(await two.outcome(second)).toBe('deadline_exceeded');
    one.release(first);
    const third = two.order({ keys });
    await two.seen(third, 'entered');
  });
});
