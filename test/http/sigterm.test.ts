import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { Agent, request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, it, onTestFinished } from 'vitest';
import { openEvents } from '../support/event-stream.ts';
import { makeRepository, sha1Of } from '../support/http-lab.ts';

/** The built program, as users start it. */
const program = join(import.meta.dirname, '../../dist/cli/main.js');
const clients = 8;

interface Ready {
  readonly api: string;
  readonly token: string;
}

it('SIGTERM under load: what was answered is on disk, the rest is refused, nothing is left, exit 0', async () => {
  const base = await realpath(await mkdtemp(join(tmpdir(), 'wa-sigterm-')));
  onTestFinished(() => rm(base, { recursive: true, force: true }));
  const root = join(base, 'workspace');
  await mkdir(root);
  const names = Array.from({ length: clients }, (_, client) => `file-${client}.txt`);
  for (const name of names) await writeFile(join(root, name), 'start\n');
  const { child, ready } = await serve(join(base, 'state'), root);
  const exited = once(child, 'exit');

  const answered = new Map<string, string>();
  const endings = new Set<string>();
  let saves = 0;
  const load = names.map(async (name) => {
    const agent = new Agent({ keepAlive: true });
    let baseSha1 = await sha1Of(join(root, name));
    for (let turn = 0; ; turn += 1) {
      const content = `${name} ${turn}\n`;
      const answer = await save(ready, agent, { cwd: root, path: name, content, baseSha1 });
      if (answer.status !== 200) {
        endings.add(answer.status === 0 ? 'connection ended' : `${answer.status} ${answer.code}`);
        agent.destroy();
        return;
      }
      answered.set(name, content);
      baseSha1 = String(answer.sha1);
      saves += 1;
      if (saves === clients * 5) child.kill('SIGTERM');
    }
  });
  await Promise.all(load);
  expect(await exited).toEqual([0, null]);
  for (const ending of endings)
    expect(['connection ended', '503 shutting_down', '499 aborted']).toContain(ending);
  for (const name of names) {
    const now = await readFile(join(root, name), 'utf8');
    const last = answered.get(name) ?? 'start\n';
    // A save whose answer was lost with its connection may have happened; an answered one must have.
    const turn = Number(/ (\d+)\n$/.exec(last)?.[1] ?? -1);
    expect([last, `${name} ${turn + 1}\n`]).toContain(now);
  }
  expect((await readdir(root)).sort()).toEqual([...names].sort());
});

it('SIGTERM ends event streams at once, and the program with 0', async () => {
  const base = await realpath(await mkdtemp(join(tmpdir(), 'wa-sigterm-')));
  onTestFinished(() => rm(base, { recursive: true, force: true }));
  const root = join(base, 'workspace');
  await makeRepository(root);
  const { child, ready } = await serve(join(base, 'state'), root);
  const exited = once(child, 'exit');
  const { port } = new URL(ready.api);
  const headers = { authorization: `Bearer ${ready.token}` };
  const streams = await Promise.all(
    [[root], [root], null].map((asked) => openEvents({ port: Number(port) }, asked, headers)),
  );
  await streams[0]?.until(({ event }) => event === 'snapshot');
  child.kill('SIGTERM');
  for (const stream of streams) await stream.ended();
  expect(await exited).toEqual([0, null]);
});

async function serve(state: string, root: string): Promise<{ child: ChildProcess; ready: Ready }> {
  const words = ['serve', '--port', '0', '--state', state, '--workspace', root, '--json'];
  const child = spawn(process.execPath, [program, ...words], { stdio: ['ignore', 'pipe', 'ignore'] });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  return { child, ready: JSON.parse(line) as Ready };
}

interface SaveAnswer {
  /** 0: the connection ended without an answer. */
  readonly status: number;
  readonly code?: unknown;
  readonly sha1?: unknown;
}

async function save(ready: Ready, agent: Agent, json: object): Promise<SaveAnswer> {
  const { origin, pathname } = new URL(ready.api);
  const headers = {
    origin,
    authorization: `Bearer ${ready.token}`,
    'content-type': 'application/json',
  };
  const outgoing = httpRequest(`${origin}${pathname}/file`, { method: 'POST', agent, headers });
  outgoing.end(JSON.stringify(json));
  try {
    const [incoming] = await once(outgoing, 'response');
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const { code, sha1 } = JSON.parse(Buffer.concat(chunks).toString());
    return { status: incoming.statusCode, code, sha1 };
  } catch {
    return { status: 0 };
  }
}
