import { once } from 'node:events';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { isAuthorityError } from '../../src/errors/index.ts';
import { git } from '../support/git.ts';
import { headOf, outcomeOf, useActionLab } from './action-lab.ts';

const here = useActionLab({ network: { protocols: ['file', 'git'] } });
let remote: string;
beforeEach(async () => {
  remote = here.beside('remote');
  await git(here.lab.place, 'init', '-q', '--bare', '-b', 'main', remote);
  await git(here.repo, 'remote', 'add', 'origin', remote);
});

const push = () => here.lab.service.actions.push(here.repo);
const fetch = () => here.lab.service.actions.fetch(here.repo);
const refsOf = (path: string) => git(path, 'for-each-ref', '--format=%(refname) %(objectname)');

describe('a push', () => {
  it('W12: sends one branch to its own name, whatever the repository is set up to push', async () => {
    const head = await headOf(here.repo);
    await git(here.repo, 'branch', 'private');
    await git(here.repo, 'tag', '-a', '-m', 'm', 'main', head);
    await git(here.repo, 'push', '-q', 'origin', 'refs/heads/private:refs/heads/theirs');
    await git(here.repo, 'update-ref', 'refs/remotes/origin/leak', head);
    for (const [key, value] of [
      ['remote.origin.mirror', 'true'],
      ['remote.origin.push', '+refs/*:refs/*'],
      ['push.default', 'matching'],
      ['push.followTags', 'true'],
      ['push.pushOption', 'x'],
      ['branch.main.merge', 'refs/heads/theirs'],
      ['branch.main.remote', 'origin'],
    ] as const) {
      await git(here.repo, 'config', key, value);
    }
    await push();
    expect(await refsOf(remote)).toBe(`refs/heads/main ${head}\nrefs/heads/theirs ${head}\n`);
    expect(await headOf(here.repo, 'refs/remotes/origin/main')).toBe(head);
    await push();
  });

  it('W12: is never by force', async () => {
    await push();
    const other = here.beside('other');
    await git(here.lab.place, 'clone', '-q', remote, other);
    await git(other, 'commit', '-q', '--allow-empty', '-m', 'theirs');
    await git(other, 'push', '-q');
    const theirs = await headOf(other);
    await git(here.repo, 'commit', '-q', '--allow-empty', '-m', 'ours');
    await git(here.repo, 'config', 'remote.origin.push', '+refs/heads/main:refs/heads/main');
    for (const refresh of [async () => undefined, fetch]) {
      await refresh();
      const refusal = await push().catch((error: unknown) => error);
      expect(isAuthorityError(refusal) && [refusal.code, refusal.details]).toEqual([
        'git_failed',
        { command: 'push', reason: 'rejected', rejection: 'non-fast-forward' },
      ]);
    }
    expect(await headOf(remote, 'refs/heads/main')).toBe(theirs);
  });

  it('run-branch-option: a branch that looks like an option is only a branch', async () => {
    const marker = here.beside('marker');
    const program = here.beside('program');
    await writeFile(program, `#!/bin/sh\n: > '${marker}'\n`, { mode: 0o755 });
    const ref = `refs/heads/--exec=${program}`;
    const head = await headOf(here.repo);
    await git(here.repo, 'update-ref', ref, head);
    await git(here.repo, 'symbolic-ref', 'HEAD', ref);
    await push();
    expect(await refsOf(remote)).toBe(`${ref} ${head}\n`);
    await expect(readFile(marker)).rejects.toThrow('ENOENT');
  });

  it('R20: tells when the other side does not want it', async () => {
    await mkdir(join(remote, 'hooks'), { recursive: true });
    await writeFile(join(remote, 'hooks/pre-receive'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
    const refusal = await push().catch((error: unknown) => error);
    expect(isAuthorityError(refusal) && refusal.details['rejection']).toBe('refused-there');
    expect(await refsOf(remote)).toBe('');
  });

  it('R20: has nothing to send from a detached HEAD or an unborn branch, and nowhere to without a remote', async () => {
    await git(here.repo, 'remote', 'remove', 'origin');
    await git(here.repo, 'init', '-q', '--bare', 'origin');
    expect(await outcomeOf(push())).toBe('remote_missing: actions.push.noRemote');
    expect(await outcomeOf(fetch())).toBe('remote_missing: actions.pull.noRemote');
    await git(here.repo, 'checkout', '-q', '--detach');
    expect(await outcomeOf(push())).toBe('action_refused: actions.push.noBranch');
    await git(here.repo, 'symbolic-ref', 'HEAD', 'refs/heads/unborn');
    expect(await outcomeOf(push())).toBe('action_refused: actions.push.noBranch');
  });
});

describe('a fetch', () => {
  it('R20: brings the branches of the remote and nothing else, and takes away what is gone there', async () => {
    await push();
    const head = await headOf(here.repo);
    await git(here.repo, 'push', '-q', 'origin', 'main:topic', 'main:refs/notes/x', 'main:refs/tags/t');
    await git(here.repo, 'update-ref', 'refs/remotes/origin/gone', head);
    await git(here.repo, 'update-ref', '-d', 'refs/remotes/origin/topic');
    await git(here.repo, 'config', '--replace-all', 'remote.origin.fetch', '+refs/*:refs/*');
    await git(here.repo, 'config', 'remote.origin.tagOpt', '--tags');
    await fetch();
    expect((await refsOf(here.repo)).replaceAll(` ${head}`, '').trim().split('\n')).toEqual([
      'refs/heads/main',
      'refs/remotes/origin/main',
      'refs/remotes/origin/topic',
    ]);
    await expect(readFile(join(here.repo, '.git/FETCH_HEAD'))).rejects.toThrow('ENOENT');
  });

  it.each([
    ['core.sshCommand', 'x'],
    ['core.gitProxy', 'x'],
    ['credential.helper', 'x'],
    ['credential.https://example.invalid.helper', 'x'],
    ['remote.origin.uploadpack', 'x'],
    ['remote.origin.receivepack', 'x'],
    ['remote.origin.vcs', 'x'],
    ['url.ext::x.insteadOf', 'https://'],
    ['http.proxy', 'x'],
  ])('W16: neither it nor a push starts while %s is set', async (key, value) => {
    await git(here.repo, 'config', key, value);
    expect(await outcomeOf(fetch())).toBe('untrusted_repository_config');
    expect(await outcomeOf(push())).toBe('untrusted_repository_config');
  });

  it.each(['ext::sh -c :', 'https://127.0.0.1/x', 'fd::17', 'ssh://-oProxyCommand=x/y'])(
    'W16: the protocol of %s is not spoken where the operator does not allow it',
    async (url) => {
      await git(here.repo, 'remote', 'set-url', 'origin', url);
      expect(await outcomeOf(fetch())).toMatch(/^git_failed: (?:protocol-not-allowed|exit-status)$/);
    },
  );

  it('W46, W47: waits for a slow remote without holding up a commit, and ends with its caller', async () => {
    await using slow = await silentServer();
    await git(here.repo, 'remote', 'set-url', 'origin', `git://127.0.0.1:${slow.port}/x`);
    const stop = new AbortController();
    const fetches = [1, 2, 3, 4, 5].map(() =>
      outcomeOf(here.lab.service.actions.fetch(here.repo, stop.signal)),
    );
    await slow.connected;
    await writeFile(join(here.repo, 'f'), 'x\n');
    await here.lab.service.actions.commit(here.repo, { message: 'm' });
    stop.abort();
    expect(await Promise.all(fetches)).toEqual(Array(5).fill('aborted'));
  });
});

describe('a fetch that is stopped while it writes refs', () => {
  const many = 400;
  beforeEach(async () => {
    const head = await headOf(here.repo);
    await git(
      here.repo,
      'push',
      '-q',
      'origin',
      ...Array.from({ length: many }, (_, n) => `${head}:refs/heads/b${n}`),
    );
    for (const ref of (await refsOf(here.repo)).split('\n')) {
      const [name = ''] = ref.split(' ');
      if (name.startsWith('refs/remotes/')) await git(here.repo, 'update-ref', '-d', name);
    }
  }, 60_000);

  const tracking = () => join(here.repo, '.git/refs/remotes/origin');
  const written = async () => (await readdir(tracking()).catch(() => [])).length;

  it.each(['its caller', 'the service'])(
    'W46: by the end of %s, leaves no lock that would stop all later ones',
    { timeout: 60_000 },
    async (who) => {
      const stop = new AbortController();
      const service = await here.lab.another();
      const fetched = outcomeOf(service.actions.fetch(here.repo, stop.signal));
      while ((await written()) === 0) await new Promise(setImmediate);
      if (who === 'its caller') stop.abort();
      else await service.close();
      expect(['ok', 'aborted', 'shutting_down']).toContain(await fetched);
      expect((await readdir(tracking())).filter((name) => name.endsWith('.lock'))).toEqual([]);
      await fetch();
      expect(await written()).toBe(many);
    },
  );
});

describe('a fetch that meets a lock that a dead Git left', () => {
  it('W46: names it, and goes on once it is removed', async () => {
    await push();
    const lock = join(here.repo, '.git/refs/remotes/origin/main.lock');
    await git(here.repo, 'update-ref', '-d', 'refs/remotes/origin/main');
    await mkdir(dirname(lock), { recursive: true });
    await writeFile(lock, '');
    const refusal = await fetch().catch((error: unknown) => error);
    expect(isAuthorityError(refusal) && [refusal.code, refusal.details['recovery']]).toMatchObject([
      'repository_locked',
      { remove: 'refs/remotes/origin/main.lock', once: 'no Git runs in the repository' },
    ]);
    await rm(lock);
    await fetch();
  });
});

describe('a remote that wants a password', () => {
  it('git-credential-prompt: is told at once, and nobody is asked', async () => {
    await using guarded = await guardedServer();
    const service = await here.lab.another({ network: { protocols: ['http'] } });
    await git(here.repo, 'remote', 'set-url', 'origin', `http://127.0.0.1:${guarded.port}/x`);
    const marker = here.beside('asked');
    const program = here.beside('ask');
    await writeFile(program, `#!/bin/sh\n: > '${marker}'\necho x\n`, { mode: 0o755 });
    await git(here.repo, 'config', 'core.askPass', program);
    for (const act of [service.actions.fetch, service.actions.push]) {
      expect(await outcomeOf(act(here.repo))).toBe('git_failed: authentication');
    }
    expect(guarded.asked).toBeGreaterThanOrEqual(2);
    await expect(readFile(marker)).rejects.toThrow('ENOENT');
  });
});

/** An HTTP server that lets nobody in. */
async function guardedServer(): Promise<{ port: number; readonly asked: number } & AsyncDisposable> {
  let asked = 0;
  const server = createHttpServer((_, response) => {
    asked += 1;
    response.writeHead(401, { 'WWW-Authenticate': 'Basic realm="x"' }).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    get asked() {
      return asked;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Accepts connections and never says anything. */
async function silentServer(): Promise<{ port: number; connected: Promise<unknown> } & AsyncDisposable> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
  });
  const connected = once(server, 'connection');
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    connected,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
