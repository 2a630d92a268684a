import { mkdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { createService, type Service, type SessionGuard } from '../../src/service.ts';
import { createOccupation } from '../../src/sessions/occupation.ts';
import { directoryAt, guardOf, session } from '../support/guarded-sessions.ts';
import { startServer } from '../support/http-server.ts';
import { MemoryRegistry } from '../support/memory-registry.ts';
import { refusalOf, temporaryDirectory } from '../support/state.ts';
import { testBinding } from '../support/test-binding.ts';

let sandbox: string;
let app: string;

beforeEach(async () => {
  sandbox = await temporaryDirectory();
  app = join(sandbox, 'app');
  await mkdir(app);
});

async function open(options: Parameters<typeof createService>[0] = {}): Promise<Service> {
  const stateDirectory = join(sandbox, 'state');
  const service = await createService({ stateDirectory, prover: 'git', binding: testBinding, ...options });
  onTestFinished(() => service.close());
  return service;
}

function registered(): MemoryRegistry {
  const registry = new MemoryRegistry();
  registry.register(app);
  return registry;
}

describe('who knows the sessions', () => {
  it('R27: a host with its own registry that names no guard has none: nothing is free, and no session can be made', async () => {
    const service = await open({ registry: registered() });
    expect(service.sessions).toBeNull();
    expect(await refusalOf(() => service.occupants(app))).toEqual({
      code: 'session_guard_unavailable',
      details: { reason: 'no session guard is connected' },
    });
    const { sessions, ready } = await service.readiness();
    expect([sessions, ready]).toEqual([
      { readable: false, open: null, code: 'session_guard_unavailable' },
      true,
    ]);
    await using server = await startServer(service);
    const answer = await server.send({ path: '/sessions' });
    expect([answer.status, answer.body?.['code']]).toEqual([501, 'not_offered']);
  });

  it('R28: the guard of a host is asked, and asked anew', async () => {
    let guard = guardOf(session('one', app));
    const asked: SessionGuard = { list: (signal) => guard.list(signal) };
    const service = await open({ registry: registered(), sessions: asked });
    expect(service.sessions).toBeNull();
    expect(await service.occupants(app)).toEqual([{ sessionId: 'one', by: 'header', reason: 'inside' }]);
    expect((await service.readiness()).sessions).toEqual({ readable: true, open: 1, code: null });
    guard = guardOf();
    expect(await service.occupants(app)).toEqual([]);
    await using server = await startServer(service);
    const answer = await server.send({ path: `/sessions/occupants?cwd=${app}` });
    expect([answer.status, answer.body]).toEqual([200, { ok: true, occupied: false, occupants: [] }]);
  });

  it('R28: a host with its own registry may have the embedded sessions', async () => {
    const service = await open({ registry: registered(), sessions: 'embedded' });
    await service.sessions?.create({ cwd: app, id: 'session-1' });
    expect(await service.occupants(app)).toHaveLength(2);
  });

  it('R02: who is in a directory is told only of what is authorised', async () => {
    const service = await open();
    expect((await refusalOf(() => service.occupants(app))).code).toBe('workspace_not_authorized');
  });
});

describe('a session that comes while its directory is set aside', () => {
  /** As an archive does it: set aside, look for sessions, and put back when there is one. */
  async function setAside(guard: SessionGuard): Promise<boolean> {
    const directory = directoryAt(app);
    await rename(app, `${app}-aside`);
    const survey = await createOccupation(guard).survey();
    const occupants = await survey.occupants({ ...directory, paths: [`${app}-aside`, app] });
    if (occupants.length === 0) return true;
    await rename(`${app}-aside`, app);
    return false;
  }

  /** First one after the other, then ever closer to it or further behind, each of both in turn. */
  async function inEitherOrder(
    round: number,
    come: () => Promise<boolean>,
    remove: () => Promise<boolean>,
  ): Promise<readonly [boolean, boolean]> {
    if (round === 0) return [await come(), await remove()];
    if (round === 1) {
      const removed = await remove();
      return [await come(), removed];
    }
    const later = async (act: () => Promise<boolean>): Promise<boolean> => {
      for (let turn = 0; turn < round * 20; turn += 1) await new Promise(setImmediate);
      return act();
    };
    return Promise.all(round % 2 === 0 ? [come(), later(remove)] : [later(come), remove()]);
  }

  it.each(['create', 'move'] as const)(
    'R28: sg-race-new-session: %s and removal never both win',
    async (act) => {
      const [one, two] = [await open(), await open()];
      const elsewhere = join(sandbox, 'elsewhere');
      await mkdir(elsewhere);
      for (const path of [app, elsewhere]) await one.workspaces?.add(path);
      const guard: SessionGuard = {
        list: async () => {
          const rows = (await two.sessions?.list()) ?? [];
          return rows.map(({ id, header, current, moving }) =>
            session(id, header, [current, ...moving.map(({ path }) => path)]),
          );
        },
      };
      const outcomes = new Set<string>();
      for (let round = 0; round < 60; round += 1) {
        const id = `session-${round}`;
        if (act === 'move') await one.sessions?.create({ id, cwd: elsewhere });
        const come = async (): Promise<boolean> => {
          const coming =
            act === 'create' ? one.sessions?.create({ id, cwd: app }) : one.sessions?.move(id, { cwd: app });
          return (
            coming?.then(
              () => true,
              () => false,
            ) ?? false
          );
        };
        const [came, removed] = await inEitherOrder(round, come, () => setAside(guard));
        expect(came && removed, `round ${round}`).toBe(false);
        outcomes.add(came ? 'came' : removed ? 'removed' : 'neither');
        const row = (await two.sessions?.list())?.find((candidate) => candidate.id === id);
        if (came) expect(row?.current).toBe(app);
        else
          expect([row?.current, row?.moving]).toEqual(
            act === 'move' ? [elsewhere, []] : [undefined, undefined],
          );
        if (row !== undefined) await one.sessions?.close(id);
        if (removed) await rename(`${app}-aside`, app);
      }
      // The test bites.
      expect(outcomes).toContain('came');
      expect(outcomes).toContain('removed');
    },
  );
});
