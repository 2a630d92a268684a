import { describe, expect, it } from 'vitest';
import type { StateDirectory, StateLock } from '../../src/capability/state-directory.ts';
import { isAuthorityError } from '../../src/errors/index.ts';
import { createMutationGate } from '../../src/mutation/gate.ts';
import { Leases, leaseSlots } from '../../src/mutation/leases.ts';
import type { GateKey, MutationGate } from '../../src/mutation/mutation-gate.ts';

/** The kernel's side of lock files, in memory: what one opening holds, no other gets. */
class LockWorld {
  readonly holders = new Map<string, object>();
  failure: string | null = null;
  calls = 0;

  open(name: string): StateLock {
    const opening = {};
    return {
      tryAcquire: (slot) => {
        this.calls += 1;
        if (this.failure !== null) throw Object.assign(new Error(this.failure), { code: this.failure });
        const place = `${name}:${slot}`;
        const holder = this.holders.get(place) ?? opening;
        if (holder !== opening) return false;
        this.holders.set(place, opening);
        return true;
      },
      release: (slot) => void this.holders.delete(`${name}:${slot}`),
      close: () => {
        for (const [place, holder] of this.holders) if (holder === opening) this.holders.delete(place);
      },
    };
  }
}

/** A gate as another process would have it: nothing in common but the lock files. */
async function processGate(world: LockWorld): Promise<MutationGate> {
  const state = { openLock: async (name: string) => world.open(name) } as unknown as StateDirectory;
  return createMutationGate({ leases: await Leases.open(state) });
}

function deferred() {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

describe('places of keys', () => {
  it('are the same for every process and version: they are part of the protocol', () => {
    const keys: GateKey[] = ['root:/home/someone', 'file:/home/someone/notes.txt'];
    expect(leaseSlots(keys)).toEqual([
      { lockClass: 'root', slot: 102_777_184_542_530 },
      { lockClass: 'file', slot: 8_702_539_320_856 },
    ]);
  });

  it('R22: come in one order, families first, then roots, each once', () => {
    const keys: GateKey[] = ['file:/b', 'root:/z', 'family:1:2', 'file:/a', 'root:/y', 'file:/b'];
    const slots = leaseSlots(keys);
    expect(slots.map(({ lockClass }) => lockClass)).toEqual(['family', 'root', 'root', 'file', 'file']);
    expect(leaseSlots([...keys].reverse())).toEqual(slots);
  });

  it('hardly ever coincide: 200,000 paths that differ in little have as many places', () => {
    const slots = new Set<number>();
    for (let index = 0; index < 200_000; index += 1) {
      const [first] = leaseSlots([`file:/srv/project/src/module-${index % 1000}/file-${index}.ts`]);
      slots.add(first?.slot ?? -1);
    }
    expect(slots.size).toBe(200_000);
    expect(Math.max(...[...slots].slice(0, 1000))).toBeLessThan(2 ** 47);
  });
});

describe('two processes', () => {
  it('R13: exclude each other, and the second gets its turn when the first is done', async () => {
    const world = new LockWorld();
    const [one, two] = [await processGate(world), await processGate(world)];
    const started = deferred();
    const end = deferred();
    const order: string[] = [];
    const first = one.run(['file:/f'], async () => {
      started.resolve();
      await end.promise;
      order.push('first');
    });
    await started.promise;
    const second = two.run(['file:/f'], async () => void order.push('second'));
    const other = two.run(['file:/g'], async () => void order.push('other key'));
    await other;
    end.resolve();
    await Promise.all([first, second]);
    expect(order).toEqual(['other key', 'first', 'second']);
    expect(world.holders.size).toBe(0);
  });

  it.each([
    ['an abort', 'aborted'],
    ['the deadline', 'deadline_exceeded'],
    ['shutdown', 'shutting_down'],
  ])('%s ends the wait for a lease with %s and leaves nothing taken', async (_, code) => {
    const world = new LockWorld();
    const [one, two] = [await processGate(world), await processGate(world)];
    const started = deferred();
    const end = deferred();
    const first = one.run(['file:/f'], async () => {
      started.resolve();
      await end.promise;
    });
    await started.promise;
    const held = [...world.holders.keys()];
    const controller = new AbortController();
    const waiting = two.run(['root:/r', 'file:/f'], async () => undefined, {
      signal: controller.signal,
      waitMs: code === 'deadline_exceeded' ? 5 : 30_000,
    });
    if (code === 'aborted') controller.abort();
    if (code === 'shutting_down') void two.close();
    const error = await waiting.catch((thrown: unknown) => thrown);
    expect(isAuthorityError(error) && error.code).toBe(code);
    expect([...world.holders.keys()]).toEqual(held);
    expect(two.pending()).toEqual([]);
    end.resolve();
    await first;
  });

  it('a stream of tasks in one process lets a waiting process in', async () => {
    const world = new LockWorld();
    const [one, two] = [await processGate(world), await processGate(world)];
    let stop = false;
    let ran = 0;
    const stream = async () => {
      while (!stop) {
        await one.run(['file:/f'], async () => {
          ran += 1;
          await new Promise(setImmediate);
        });
      }
    };
    const streams = [stream(), stream(), stream(), stream()];
    // Without the chance that the busy process gives it, the polls of the other one practically never hit.
    for (let turn = 0; turn < 5; turn += 1) {
      await two.run(['file:/f'], async () => undefined, { waitMs: 5_000 });
    }
    stop = true;
    await Promise.all(streams);
    expect(ran).toBeGreaterThan(0);
    expect(world.holders.size).toBe(0);
  });

  it('a refused lock is state_unavailable with its errno, and the key stays usable', async () => {
    const world = new LockWorld();
    const gate = await processGate(world);
    world.failure = 'ENOLCK';
    const error = await gate.run(['file:/f'], async () => undefined).catch((thrown: unknown) => thrown);
    expect(isAuthorityError(error) && [error.code, error.details]).toEqual([
      'state_unavailable',
      { file: 'locks', reason: 'ENOLCK' },
    ]);
    world.failure = null;
    expect(await gate.run(['file:/f'], async () => 'free')).toBe('free');
  });

  it('an undisturbed task costs one lock call', async () => {
    const world = new LockWorld();
    const gate = await processGate(world);
    await gate.run(['file:/f'], async () => undefined);
    expect(world.calls).toBe(1);
  });
});
