import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createRepositoryActions } from '../../src/actions/create-actions.ts';
import { Confirmations } from '../../src/actions/discard-confirmations.ts';
import { createHookTrust } from '../../src/actions/trusted-hooks.ts';
import { createConfigurationGate } from '../../src/git/configuration-gate.ts';
import { createGitRunner, type GitRunner } from '../../src/git/run-git.ts';
import { readUserConfiguration } from '../../src/git/user-configuration.ts';
import { createMutationGate } from '../../src/mutation/gate.ts';
import { deathGuard } from '../support/addon.ts';
import { deferred } from '../support/deferred.ts';
import { git } from '../support/git.ts';
import { startServer } from '../support/http-server.ts';
import { unusedArchives } from '../support/unused-archives.ts';
import { type ActionLab, createActionLab, headOf, outcomeOf } from './action-lab.ts';

const clients = 8;
let lab: ActionLab;
let repositories: readonly string[];
beforeAll(async () => {
  lab = await createActionLab({ network: { protocols: ['git'] } });
  const names = Array.from({ length: clients }, (_, index) => `repository ${index}`);
  repositories = await Promise.all(names.map((name) => lab.repository(name)));
});
afterAll(() => lab[Symbol.asyncDispose]());

it('R22: eight clients on eight repositories are all in the middle of their turn at one time', async () => {
  const runner = createGitRunner({ deathGuard });
  const all = deferred<void>();
  let inside = 0;
  // Each waits, in its turn, until all the others are in theirs: if one had to wait for another, none would ever go on.
  const meeting: GitRunner = {
    ...runner,
    async run(command, signal) {
      if (command.name === 'stage') {
        inside += 1;
        if (inside === clients) all.resolve();
        await all.promise;
      }
      return runner.run(command, signal);
    },
  };
  const actions = createRepositoryActions({
    authority: lab.service.authority,
    gate: createMutationGate({ leases: null }),
    git: meeting,
    configuration: createConfigurationGate(runner),
    user: (signal) => readUserConfiguration(runner, { home: lab.home }, signal),
    network: {},
    hooks: createHookTrust(runner),
    archives: unusedArchives,
    confirmations: new Confirmations(),
  });
  const commits = repositories.map(async (repository) => {
    await writeFile(join(repository, 'f'), 'x\n');
    return (await actions.commit(repository, { message: 'm' })).oid;
  });
  const made = await Promise.all(commits);
  expect(inside).toBe(clients);
  expect(await Promise.all(repositories.map((repository) => headOf(repository)))).toEqual(made);
  await runner.close();
});

it('R22, W46, W47: while a fetch hangs in each of eight repositories, their files are saved, read, compared and committed', async () => {
  await using server = await startServer(lab.service);
  await using slow = await silentServer();
  for (const repository of repositories) {
    await git(repository, 'remote', 'add', 'origin', `git://127.0.0.1:${slow.port}/x`);
  }
  const stop = new AbortController();
  let ended = 0;
  const fetches = repositories.map(async (repository) => {
    const outcome = await outcomeOf(lab.service.actions.fetch(repository, stop.signal));
    ended += 1;
    return outcome;
  });
  await expect.poll(() => slow.open(), { timeout: 30_000 }).toBe(4);
  await Promise.all(
    repositories.map(async (cwd, index) => {
      const name = `saved-${index}`;
      const saved = await server.send({
        method: 'PUT',
        path: '/file',
        json: { cwd, path: name, content: 'x\n' },
        headers: { 'if-none-match': '*' },
      });
      expect([saved.status, saved.body?.['code']]).toEqual([201, undefined]);
      const query = new URLSearchParams({ cwd });
      for (const route of ['/diff', '/snapshot', '/branches', '/commits']) {
        expect([route, (await server.send({ path: `${route}?${query}` })).status]).toEqual([route, 200]);
      }
      const json = { cwd, name: 'commit', params: { message: name } };
      expect((await server.send({ method: 'POST', path: '/action', json })).status).toBe(200);
    }),
  );
  // Every one of them hung all the while.
  expect([ended, slow.open()]).toEqual([0, 4]);
  stop.abort();
  expect(await Promise.all(fetches)).toEqual(Array(clients).fill('aborted'));
});

/** Accepts connections and never says anything. */
async function silentServer(): Promise<{ port: number; open(): number } & AsyncDisposable> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    socket.resume();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    open: () => sockets.size,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
