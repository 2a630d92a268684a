/** Builds nodegit from the private install root into one cache entry. Runs under the entry's lock. */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  copyFileSync,
  cpSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { environmentForNpm, nodeHeadersDirectory, npmCommand } from '../host.mjs';
import { installRoot, keyIngredients, treeDigest } from './entry.mjs';

/** What nodegit loads besides itself when it runs; its other dependencies only serve its installation. */
const runtimeDependencies = ['lodash', 'fs-extra', 'graceful-fs', 'jsonfile', 'universalify'];

/**
 * Builds in a private directory and moves the result to `paths.directory` as the last step, so that a
 * build killed at any moment, and the compilers it leaves running, harm nothing.
 */
export function buildEntry(paths, say) {
  removeLeftovers(paths);
  const work = mkdtempSync(`${paths.directory}.build-`);
  try {
    for (const name of ['package.json', 'package-lock.json']) {
      copyFileSync(join(installRoot, name), join(work, name));
    }
    const nodegit = join(work, 'node_modules/nodegit');
    say('nodegit: fetching its sources');
    const npm = [...npmCommand(), 'ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
    run(npm, work, environmentForNpm());
    say('nodegit: compiling (about 8 minutes, once per machine and Node version)');
    compile(work, nodegit);
    const entry = join(work, 'entry');
    collect(work, entry);
    smokeTest(join(entry, 'node_modules/nodegit'), work);
    const meta = { key: paths.key, tree: treeDigest(join(entry, 'node_modules')), made: keyIngredients() };
    writeFileSync(join(entry, 'meta.json'), `${JSON.stringify(meta, null, 2)}\n`, { mode: 0o600 });
    syncTree(entry);
    renameSync(entry, paths.directory);
    syncPath(paths.root);
  } finally {
    remove(work);
  }
}

/** Build directories of this entry whose builder died: we hold the lock, so none is in use. */
function removeLeftovers(paths) {
  const leftover = [`${basename(paths.directory)}.build-`, `${basename(paths.directory)}.dropped-`];
  for (const name of readdirSync(paths.root)) {
    if (leftover.some((prefix) => name.startsWith(prefix))) remove(join(paths.root, name));
  }
}

function remove(path) {
  try {
    rmSync(path, { recursive: true, force: true, maxRetries: 3 });
  } catch {
    // A compiler that outlived its builder still writes there; the next build tries again.
  }
}

function compile(work, nodegit) {
  const headers = nodeHeadersDirectory();
  const nodeGyp = join(work, 'node_modules/node-gyp/bin/node-gyp.js');
  const nodedir = headers === undefined ? [] : [`--nodedir=${headers}`];
  // npm's own rebuild obeys allowScripts and would silently do nothing, so node-gyp is called directly.
  const command = [process.execPath, nodeGyp, 'rebuild', '--jobs', 'max', ...nodedir];
  run(command, nodegit, { ...environmentForNpm(), JOBS: 'max', BUILD_ONLY: 'true' });
}

function run([program, ...args], cwd, env) {
  const { status, signal, error } = spawnSync(program, args, {
    cwd,
    env,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  if (error) throw error;
  if (status !== 0) throw new Error(`${basename(args[0] ?? program)} ended with ${signal ?? status}`);
}

/** Copies what is needed at run time, about 12 MB of 150, with modes that let only this user write. */
function collect(work, entry) {
  const from = join(work, 'node_modules');
  const to = join(entry, 'node_modules');
  mkdirSync(join(to, 'nodegit/build/Release'), { recursive: true });
  for (const part of ['package.json', 'LICENSE', 'lib', 'build/Release/nodegit.node']) {
    cpSync(join(from, 'nodegit', part), join(to, 'nodegit', part), { recursive: true, dereference: true });
  }
  for (const name of runtimeDependencies) {
    cpSync(join(from, name), join(to, name), { recursive: true, dereference: true });
  }
  // Debug information is half the file. Without strip(1) it works all the same.
  spawnSync('strip', ['--strip-unneeded', join(to, 'nodegit/build/Release/nodegit.node')]);
  forEachPath(entry, (path, stat) => chmodSync(path, stat.isDirectory() ? 0o700 : 0o600));
}

function forEachPath(path, visit) {
  const stat = lstatSync(path);
  visit(path, stat);
  if (!stat.isDirectory()) return;
  for (const name of readdirSync(path)) forEachPath(join(path, name), visit);
}

function syncTree(directory) {
  forEachPath(directory, syncPath);
}

function syncPath(path) {
  const fd = openSync(path, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/**
 * Loads the built nodegit in a child and lets it open a repository. Throws what the child said.
 * The child sees no home directory but an empty one, so no configuration of the user can decide this.
 */
function smokeTest(nodegit, scratch) {
  const home = mkdtempSync(join(scratch, 'smoke-'));
  try {
    const child = spawnSync(process.execPath, [join(import.meta.dirname, 'smoke.cjs'), nodegit, home], {
      encoding: 'utf8',
      timeout: 60_000,
      env: { PATH: process.env.PATH, HOME: home, XDG_CONFIG_HOME: home },
    });
    if (child.status !== 0) {
      throw new Error(`the built nodegit does not work: ${child.stderr || child.signal || child.error}`);
    }
  } finally {
    remove(home);
  }
}
