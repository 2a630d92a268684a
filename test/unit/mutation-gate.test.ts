import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { isAuthorityError } from '../../src/errors/index.ts';
import { createMutationGate } from '../../src/mutation/gate.ts';
import type { GateKey, MutationGate, WaitOptions } from '../../src/mutation/mutation-gate.ts';

/** A task that says when it has started and ends when it is told to. */
function heldTask() {
  const started = deferred();
  const end = deferred();
  return {
    started: started.promise,
    end: end.resolve,
    task: async () => {
      started.resolve();
      await end.promise;
    },
  };
}

function deferred() {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

function codeOf(error: unknown): string {
  return isAuthorityError(error) ? error.code : `not ours: ${error}`;
}

async function settledCode(promise: Promise<unknown>): Promise<string> {
  return promise.then(() => 'ran', codeOf);
}

function newGate(queueLimit?: number): MutationGate {
  return createMutationGate({ leases: null, ...(queueLimit === undefined ? {} : { queueLimit }) });
}

describe('the mutation cases of the wire contract', () => {
  const table = JSON.parse(readFileSync(new URL('../cases/wire-cases.json', import.meta.url), 'utf8'));
  const ids: string[] = table
    .map((row: { id: string }) => row.id)
    .filter((id: string) => id.startsWith('mut-'));
  const gate = newGate();

  const cases: Record<string, () => Promise<void>> = {
    'mut-serial': async () => {
      let active = 0;
      let maxActive = 0;
      const task = async () => {
        active += 1;
        maxActive = Math.max(maxActive, active);
        await new Promise(setImmediate);
        active -= 1;
      };
      await Promise.all([1, 2, 3].map(() => gate.run(['root:/same'], task)));
      expect(maxActive).toBe(1);
    },
    'mut-fifo': async () => {
      const order: string[] = [];
      await Promise.all(
        [1, 2, 3].map((number) =>
          gate.run(['root:/same'], async () => {
            order.push(`start ${number}`);
            await new Promise(setImmediate);
            order.push(`end ${number}`);
          }),
        ),
      );
      expect(order).toEqual(['start 1', 'end 1', 'start 2', 'end 2', 'start 3', 'end 3']);
    },
    'mut-drained': async () => expect(gate.pending()).toEqual([]),
    'mut-parallel-keys': async () => {
      const one = deferred();
      const two = deferred();
      await Promise.all([
        gate.run(['root:/one'], async () => {
          one.resolve();
          await two.promise;
        }),
        gate.run(['root:/two'], async () => {
          two.resolve();
          await one.promise;
        }),
      ]);
    },
    'mut-throw': async () => {
      const boom = new Error('boom');
      await expect(gate.run(['root:/throw'], async () => Promise.reject(boom))).rejects.toBe(boom);
    },
    'mut-after-throw': async () => {
      expect(await gate.run(['root:/throw'], async () => 42)).toBe(42);
    },
    'mut-abort-drained': async () => {
      const holder = heldTask();
      const held = gate.run(['root:/abort'], holder.task);
      const controller = new AbortController();
      const waiting = settledCode(
        gate.run(['root:/abort'], async () => undefined, { signal: controller.signal }),
      );
      controller.abort();
      expect(await waiting).toBe('aborted');
      expect(gate.pending()).toEqual(['root:/abort']);
      holder.end();
      await held;
      expect(gate.pending()).toEqual([]);
    },
  };

  it.each(ids)('%s holds in substance', async (id) => {
    await (cases[id] as () => Promise<void>)();
  });
});

describe('taking several keys', () => {
  it('R13: runs when all are free and never deadlocks, whatever the order of naming', async () => {
    const gate = newGate();
    const keys: GateKey[] = ['root:/a', 'file:/a/1', 'file:/a/2', 'file:/b/1'];
    const held = new Set<string>();
    let ran = 0;
    const runs = Array.from({ length: 200 }, (_, index) => {
      const wanted = keys.filter((_, bit) => ((index % 15) + 1) & (1 << bit));
      if (index % 2 === 1) wanted.reverse();
      return gate.run(wanted, async () => {
        for (const key of wanted) {
          expect(held.has(key)).toBe(false);
          held.add(key);
        }
        await new Promise(setImmediate);
        for (const key of wanted) held.delete(key);
        ran += 1;
      });
    });
    await Promise.all(runs);
    expect(ran).toBe(200);
    expect(gate.pending()).toEqual([]);
  });

  it('keeps the order of arrival at each key', async () => {
    const gate = newGate();
    const first = heldTask();
    const order: string[] = [];
    const note = (name: string) => async () => void order.push(name);
    const runs = [
      gate.run(['file:/x'], first.task),
      gate.run(['file:/x', 'file:/y'], note('both')),
      gate.run(['file:/y'], note('y after both')),
      gate.run(['file:/z'], note('z')),
    ];
    await first.started;
    first.end();
    await Promise.all(runs);
    expect(order).toEqual(['z', 'both', 'y after both']);
  });

  it('a key named twice counts once', async () => {
    const gate = newGate();
    expect(await gate.run(['file:/x', 'file:/x'], async () => gate.depth('file:/x'))).toBe(1);
  });

  it('a holder of a root may take its files', async () => {
    const gate = newGate();
    const inner = await gate.run(['root:/r'], () => gate.run(['file:/r/f'], async () => 'written'));
    expect(inner).toBe('written');
  });
});

describe('64 waiters on one key', () => {
  it('R13: run one after the other in the order in which they came', async () => {
    const gate = newGate();
    const order: number[] = [];
    const holder = heldTask();
    const held = gate.run(['file:/f'], holder.task);
    const waiters = Array.from({ length: 64 }, (_, index) =>
      gate.run(['file:/f'], async () => void order.push(index)),
    );
    expect(gate.depth('file:/f')).toBe(65);
    holder.end();
    await Promise.all([held, ...waiters]);
    expect(order).toEqual(Array.from({ length: 64 }, (_, index) => index));
    expect(gate.depth('file:/f')).toBe(0);
  });
});

describe('how a wait ends', () => {
  interface Ending {
    readonly title: string;
    readonly code: string;
    readonly options?: (controller: AbortController) => WaitOptions;
    readonly cause?: (gate: MutationGate, controller: AbortController) => void;
  }
  const endings: readonly Ending[] = [
    {
      title: 'an abort while waiting',
      code: 'aborted',
      options: ({ signal }) => ({ signal }),
      cause: (_, controller) => controller.abort(new Error('caller left')),
    },
    { title: 'the deadline', code: 'deadline_exceeded', options: () => ({ waitMs: 5 }) },
    {
      title: 'no time at all while somebody else runs',
      code: 'deadline_exceeded',
      options: () => ({ waitMs: 0 }),
    },
    { title: 'shutdown', code: 'shutting_down', cause: (gate) => void gate.close() },
  ];

  it.each(endings)('$title ends it with $code, and nothing runs', async ({ code, options, cause }) => {
    const gate = newGate();
    const controller = new AbortController();
    const holder = heldTask();
    const held = gate.run(['file:/f'], holder.task);
    let ran = false;
    const waiting = settledCode(
      gate.run(
        ['file:/f'],
        async () => {
          ran = true;
        },
        options?.(controller),
      ),
    );
    cause?.(gate, controller);
    expect(await waiting).toBe(code);
    expect(gate.depth('file:/f')).toBe(1);
    holder.end();
    await held;
    expect(ran).toBe(false);
    expect(gate.pending()).toEqual([]);
  });

  it('a signal that is aborted already never starts the task and never queues', async () => {
    const gate = newGate();
    const signal = AbortSignal.abort();
    expect(await settledCode(gate.run(['file:/f'], async () => 1, { signal }))).toBe('aborted');
    expect(gate.pending()).toEqual([]);
  });

  it('those behind a waiter that gave up still wait for the one that runs', async () => {
    const gate = newGate();
    const holder = heldTask();
    const order: string[] = [];
    const held = gate.run(['file:/f'], async () => {
      await holder.task();
      order.push('holder');
    });
    const controller = new AbortController();
    const quitter = settledCode(
      gate.run(['file:/f'], async () => order.push('quitter'), { signal: controller.signal }),
    );
    const third = gate.run(['file:/f'], async () => order.push('third'));
    controller.abort();
    expect(await quitter).toBe('aborted');
    expect(order).toEqual([]);
    holder.end();
    await Promise.all([held, third]);
    expect(order).toEqual(['holder', 'third']);
  });

  it('neither abort nor deadline stops a task that has started', async () => {
    const gate = newGate();
    const controller = new AbortController();
    const holder = heldTask();
    const running = gate.run(
      ['file:/f'],
      async () => {
        await holder.task();
        return 'done';
      },
      { signal: controller.signal, waitMs: 0 },
    );
    await holder.started;
    controller.abort();
    holder.end();
    expect(await running).toBe('done');
  });
});

describe('limits', () => {
  it('one waiter more than the limit is refused with queue_full, and the key stays usable', async () => {
    const gate = newGate(2);
    const holder = heldTask();
    const runs = [gate.run(['file:/f'], holder.task)];
    runs.push(...[1, 2].map(() => gate.run(['file:/f'], async () => undefined)));
    const error = await gate.run(['file:/other', 'file:/f'], async () => undefined).catch((thrown) => thrown);
    expect(codeOf(error)).toBe('queue_full');
    expect(error.details).toEqual({ limit: 2 });
    expect(gate.depth('file:/other')).toBe(0);
    holder.end();
    await Promise.all(runs);
    expect(await gate.run(['file:/f'], async () => 'free')).toBe('free');
  });

  it('closing waits for what runs, refuses what comes, and may be repeated', async () => {
    const gate = newGate();
    const holder = heldTask();
    const held = gate.run(['root:/r'], holder.task);
    await holder.started;
    let closed = false;
    const closing = gate.close().then(() => {
      closed = true;
    });
    expect(await settledCode(gate.run(['root:/other'], async () => 1))).toBe('shutting_down');
    expect(closed).toBe(false);
    holder.end();
    await Promise.all([held, closing, gate.close()]);
    expect(closed).toBe(true);
  });
});
