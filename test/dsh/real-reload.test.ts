import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { compileSources } from '../support/compiled.ts';
import { deferred } from '../support/deferred.ts';
import { git, makeRepository } from '../support/http-lab.ts';
import { temporaryDirectory } from '../support/state.ts';
import type { PlainAnswer } from './plain-client.ts';
import { installedPackages, type OpenThings, type RealHost, startRealHost } from './real-host.ts';

const isHere = process.arch === 'x64';
const long = process.env['WORKSPACE_AUTHORITY_LONG'] === '1';

let compiled: string;

beforeAll(async () => {
  await installedPackages();
  compiled = await compileSources();
});

async function start(home: string): Promise<{ readonly host: RealHost; readonly app: string }> {
  const app = join(home, 'app');
  await mkdir(app);
  await makeRepository(app);
  const host = await startRealHost(compiled, { home, connection: 2 });
  await host.run('createWorkspace', app);
  return { host, app };
}

const cookie = { cookie: 'let=me-in' };

/** Reads, changes and event streams by several clients at once, until told to stop. Answers with what was answered. */
function load(
  host: RealHost,
  app: string,
  { stopped, onMade }: { readonly stopped: () => boolean; readonly onMade: () => void },
): Promise<readonly PlainAnswer[]> {
  const cwd = encodeURIComponent(app);
  const origin = `http://127.0.0.1:${host.port}`;
  let count = 0;
  const change = async (): Promise<PlainAnswer> => {
    count += 1;
    const answer = await host.ask('/file', {
      method: 'PUT',
      headers: { ...cookie, origin, 'content-type': 'application/json', 'if-none-match': '*' },
      body: JSON.stringify({ cwd: app, path: `made-${count}.txt`, content: `${count}`, encoding: 'utf8' }),
    });
    if (answer.status === 201) onMade();
    return answer;
  };
  const stream = (): Promise<PlainAnswer> =>
    host.ask(`/events?cwds=${encodeURIComponent(JSON.stringify([app]))}`, { headers: cookie });
  const kinds = [
    () => host.ask(`/snapshot?cwd=${cwd}`, { headers: cookie }),
    () => host.ask(`/diff?cwd=${cwd}`, { headers: cookie }),
    () => host.ask(`/file?cwd=${cwd}&path=tracked.txt`, { headers: cookie }),
    change,
    stream,
  ];
  const client = async (call: () => Promise<PlainAnswer>): Promise<readonly PlainAnswer[]> => {
    const answers: PlainAnswer[] = [];
    while (!stopped()) answers.push(await call());
    return answers;
  };
  return Promise.all(kinds.map(client)).then((answers) => answers.flat());
}

it.skipIf(!isHere)(
  'R41: a real host that reloads the plugin under load: every answer of it can be parsed, no change is half made, and nothing stays open',
  async () => {
    const home = await temporaryDirectory();
    const { host, app } = await start(home);
    await host.run('unload');
    const before = await host.run<OpenThings>('open');
    await host.run('load');
    let stopping = false;
    let nextMade = deferred<void>();
    const loading = load(host, app, { stopped: () => stopping, onMade: () => nextMade.resolve() });
    for (let round = 0; round < (long ? 40 : 4); round += 1) {
      // Each life of the plugin changes something before the next one begins.
      nextMade = deferred<void>();
      await nextMade.promise;
      await host.run('reload');
    }
    stopping = true;
    // Ends the streams.
    await host.run('unload');
    const answers = await loading;
    for (const { status, body } of answers) {
      // Between two lives of the plugin the host answers, with 404 and no body; a stream of ours is no JSON either.
      if (body === null) expect([200, 404]).toContain(status);
      else expect(body['ok'], JSON.stringify(body)).toBe(status < 300);
    }
    const made = answers.filter(({ status }) => status === 201).length;
    expect(made).toBeGreaterThan(0);
    const listed = (await git(app, 'ls-files', '--others')).split('\n').filter((name) => name !== '');
    expect(listed.filter((name) => !/^made-\d+\.txt$/.test(name))).toEqual([]);
    for (const name of listed) expect(`made-${await readFile(join(app, name), 'utf8')}.txt`).toBe(name);
    expect(listed.length).toBe(made);
    const open = async (): Promise<Partial<OpenThings>> => {
      const { files, children, resources } = await host.run<OpenThings>('open');
      // Once something was watched, the loop of libuv keeps its one descriptor for watches (uv__inotify_init).
      const watching = files.indexOf('anon_inode:inotify');
      return {
        files: files.filter((_, index) => index !== watching),
        children,
        resources: resources.filter((kind) => !/^TCP/.test(kind)),
      };
    };
    const { files, children } = before;
    await expect
      .poll(open)
      .toEqual({ files, children, resources: before.resources.filter((kind) => !/^TCP/.test(kind)) });
  },
);

it.skipIf(!isHere)(
  'a configuration that is not understood stops the plugin, and a better one starts it again',
  async () => {
    const home = await temporaryDirectory();
    const { host, app } = await start(home);
    await writeFile(join(app, 'a.txt'), 'a');
    const path = `/file?cwd=${encodeURIComponent(app)}&path=a.txt`;
    await expect(host.run('update', { allowedHost: ['box.example'] })).rejects.toThrow('is no setting');
    await host.run('update', { home, prover: 'git', allowedHosts: ['box.example'] });
    const headers = { ...cookie, host: 'box.example' };
    await expect.poll(async () => (await host.ask(path, { headers })).status).toBe(200);
  },
);
