import { openStateDirectory } from '../../src/capability/state-directory.ts';
import { isAuthorityError } from '../../src/errors/index.ts';
import { createMutationGate } from '../../src/mutation/gate.ts';
import { Leases } from '../../src/mutation/leases.ts';
import type { FaultPlan } from '../../src/native/binding.ts';
import { openFileSessions } from '../../src/sessions/file-sessions.ts';
import type { SessionStore } from '../../src/sessions/session-store.ts';
import { testBinding } from './test-binding.ts';

/**
 * A process that uses the sessions of a state directory: session-program <state directory> churn <prefix> <count> | once <act> <fault>.
 * `churn` opens, moves and closes sessions and sends what became of each; `once` does one act to `session-1`, with a fault armed, and prints
 * the system calls it took or the code it was refused with.
 */
const [path, verb, word, last] = process.argv.slice(2) as [string, string, string, string];

const acts: Readonly<Record<string, (store: SessionStore) => Promise<unknown>>> = {
  create: (store) =>
    store.create({ id: 'session-1', workspace: '/srv', directory: '/srv/a', life: { ends: 'closed' } }),
  move: async (store) => store.settleMove('session-1', await store.beginMove('session-1', '/srv/b')),
  abandon: async (store) => store.abandonMove('session-1', await store.beginMove('session-1', '/srv/b')),
  close: (store) => store.close('session-1'),
};

try {
  const state = await openStateDirectory(path, testBinding);
  const gate = createMutationGate({ leases: await Leases.open(state) });
  const store = await openFileSessions(state, gate);
  if (verb === 'churn') await churn(store, word, Number(last));
  else await once(store, word, JSON.parse(last));
  await gate.close();
  state.close();
} catch (error) {
  if (!isAuthorityError(error)) throw error;
  answer({ code: error.code, details: error.details });
}
// The parent's channel would keep the process alive.
process.disconnect?.();

async function churn(store: SessionStore, prefix: string, count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    const id = `${prefix}-${index}`;
    const tell = (place: string | null): void => void process.send?.({ id, place });
    const directory = `/srv/${prefix}/a`;
    await store.create({ id, workspace: '/srv', directory, life: { ends: 'closed' } });
    tell('a');
    await store.settleMove(id, await store.beginMove(id, `/srv/${prefix}/b`));
    tell('b');
    if (index % 3 !== 0) continue;
    await store.close(id);
    tell(null);
  }
  answer(count);
}

async function once(store: SessionStore, act: string, fault: FaultPlan | null): Promise<void> {
  testBinding.setFault(fault);
  await acts[act]?.(store);
  answer(testBinding.faultTrace());
}

function answer(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}
