/**
 * What a newcomer does: clones, runs `npm start` (twice at once, as people do), reads and saves a file, tries to
 * leave the workspace, stops the server, starts it again. HOME is new; the cache of built nodegits is the user's.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { cacheRoot } from '../host.mjs';

const place = realpathSync(mkdtempSync(join(tmpdir(), 'newcomer-')));
const clone = join(place, 'clone');
const workspace = join(place, 'workspace');
const note = join(workspace, 'note.txt');
const environment = {
  PATH: process.env.PATH,
  HOME: place,
  XDG_CACHE_HOME: dirname(cacheRoot()),
  ...(process.env.npm_config_registry && { npm_config_registry: process.env.npm_config_registry }),
};

function expect(actual, expected, what) {
  if (actual !== expected) throw new Error(`${what}: ${actual} instead of ${expected}`);
}

/** Runs `npm start` until it serves; answers with how to talk to it and how to stop it. */
async function start(name) {
  const began = Date.now();
  const options = ['--json', '--port', '0', '--state', join(place, name), '--workspace', workspace];
  const npm = spawn('npm', ['start', '--', ...options], {
    cwd: clone,
    env: environment,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(npm, 'exit');
  for await (const line of createInterface({ input: npm.stdout })) {
    if (!line.startsWith('{')) continue;
    const { api, token, pid } = JSON.parse(line);
    const send = (path, init = {}) =>
      fetch(`${api}${path}`, { ...init, headers: { Authorization: `Bearer ${token}`, ...init.headers } });
    const file = `/file?${new URLSearchParams({ cwd: workspace, path: 'note.txt' })}`;
    const answer = await send(file);
    expect(answer.status, 200, 'reading a file');
    console.log(`${name}: first file after ${((Date.now() - began) / 1000).toFixed(1)} s`);
    return { api, send, file: await answer.json(), etag: answer.headers.get('etag'), pid, ended };
  }
  throw new Error(`npm start ended with ${(await ended)[0]}`);
}

async function stop({ pid, ended }) {
  process.kill(pid, 'SIGTERM');
  expect((await ended)[0], 0, 'the exit code after SIGTERM');
}

async function use({ api, send, file, etag }) {
  expect(file.content, 'first\n', 'the content');
  const save = (headers) =>
    send('/file', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Origin: new URL(api).origin, ...headers },
      body: JSON.stringify({ cwd: workspace, path: 'note.txt', content: 'second\n' }),
    });
  expect((await save({ 'If-Match': etag })).status, 200, 'saving');
  expect(readFileSync(note, 'utf8'), 'second\n', 'the saved file');
  expect((await save({ 'If-Match': etag })).status, 412, 'saving over a stale version');
  const outside = `/file?${new URLSearchParams({ cwd: workspace, path: '../clone/README.md' })}`;
  expect((await send(outside)).status, 403, 'reading outside');
  console.log(`readyz: ${await (await send('/readyz')).text()}`);
}

try {
  mkdirSync(workspace);
  writeFileSync(note, 'first\n');
  expect(spawnSync('git', ['clone', '--quiet', '.', clone], { stdio: 'inherit' }).status, 0, 'git clone');
  const both = await Promise.all([start('first'), start('second')]);
  await use(both[0]);
  for (const server of both) await stop(server);
  await stop(await start('first'));
} finally {
  rmSync(place, { recursive: true, force: true });
}
