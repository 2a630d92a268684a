/**
 * nodegit for this machine: built once per user, Node ABI and C library into the user's cache, and loaded
 * from there by absolute path. Node built-ins only; works in a checkout and in an installed package.
 *
 *   node scripts/nodegit.mjs status   print the state as JSON
 *   node scripts/nodegit.mjs ensure   have it built, waiting for a build that is under way; exit 1 when it cannot be
 */
import { spawn } from 'node:child_process';
import {
  closeSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { setPriority } from 'node:os';
import { isAlive, processIdentity } from './host.mjs';
import { buildEntry } from './nodegit/build.mjs';
import { assertPrivateRoot, assertUsable, entryPaths, UnusableEntry } from './nodegit/entry.mjs';
import {
  installCommand,
  installSystemPackages,
  mayInstallSystemPackages,
  missingForNodegit,
} from './system-packages.mjs';

const longestBuildSeconds = 60 * 60;

/**
 * What there is now. Cheap enough to ask often: the first answer for a ready entry reads all of it
 * (about 0.1 s), later ones only look whether it is still the same.
 */
export function nodegitState() {
  let paths;
  try {
    paths = entryPaths();
  } catch (error) {
    return { state: 'failed', reason: error.message };
  }
  const entry = usableEntry(paths);
  if (entry.state === 'ready' || entry.unsafe) return publicState(entry);
  const recorded = readRecord(paths);
  if (recorded?.state === 'building') {
    if (isAlive(recorded)) return { state: 'building', pid: recorded.pid };
    return { state: 'failed', reason: `the build (process ${recorded.pid}) ended early; log: ${paths.log}` };
  }
  if (recorded?.state === 'failed') return { state: 'failed', reason: recorded.reason };
  return publicState(entry);
}

/** Starts a build that outlives this process, unless nodegit is there or already being built. */
export function startNodegitBuild({ installSystemPackages: install = false } = {}) {
  const before = nodegitState();
  if (before.state === 'ready' || before.state === 'building') return before;
  try {
    const paths = entryPaths();
    prepareRoot(paths);
    const missing = install ? [] : missingForNodegit();
    if (missing.length > 0) return recordFailure(paths, missingPackages(missing));
    const log = openSync(paths.log, 'w', 0o600);
    const [program, ...args] = lockedBuild(paths, install);
    const child = spawn(program, args, { detached: true, stdio: ['ignore', log, log] });
    closeSync(log);
    child.on('error', () => {});
    child.unref();
    if (child.pid === undefined) return { state: 'failed', reason: `${program} is not installed` };
    // Written at once, so that the next set-up sees this builder and starts no second one.
    writeRecord(paths, { state: 'building', ...processIdentity(child.pid) });
  } catch (error) {
    return { state: 'failed', reason: error.message };
  }
  return nodegitState();
}

/** Builds nodegit, or waits for the build that is under way, and returns the state that came of it. */
export async function ensureNodegit({ installSystemPackages: install = false } = {}) {
  const before = nodegitState();
  if (before.state === 'ready') return before;
  let paths;
  try {
    paths = entryPaths();
    prepareRoot(paths);
  } catch (error) {
    return { state: 'failed', reason: error.message };
  }
  if (before.state === 'building') {
    process.stderr.write(`nodegit: waiting for process ${before.pid} to build it (log: ${paths.log})\n`);
  }
  const [program, ...args] = lockedBuild(paths, install);
  const problem = await new Promise((resolve) => {
    const child = spawn(program, args, { stdio: ['ignore', 2, 2] });
    child.on('error', (error) => resolve(`cannot run ${program}: ${error.message}`));
    child.on('exit', () => resolve(undefined));
  });
  const after = nodegitState();
  if (after.state === 'ready' || after.state === 'failed') return after;
  return { state: 'failed', reason: problem ?? `no build came about; log: ${paths.log}` };
}

// flock(1) holds the lock in the kernel, so a builder that is killed never leaves one behind.
function lockedBuild(paths, install) {
  const request = [process.execPath, import.meta.filename, 'build', `--asked-at=${Date.now()}`];
  if (install) request.push('--install-system-packages');
  return ['flock', '-w', String(longestBuildSeconds), paths.lock, ...request];
}

function buildUnderLock(argv) {
  const paths = entryPaths();
  const askedAt = Number(argv.find((arg) => arg.startsWith('--asked-at='))?.slice('--asked-at='.length) ?? 0);
  const entry = usableEntry(paths);
  const recorded = readRecord(paths);
  if (entry.state === 'ready') return 0;
  // Whoever held the lock before us tried what we would try, and failed after we asked.
  if (recorded?.state === 'failed' && recorded.at >= askedAt) return 1;
  writeRecord(paths, { state: 'building', ...processIdentity(process.pid) });
  try {
    if (entry.unsafe) throw new Error(`${entry.reason}; remove ${paths.directory} to have it built anew`);
    if (process.platform !== 'linux') throw new Error('nodegit is built on Linux only');
    if (entry.state === 'failed') dropEntry(paths, entry.reason);
    obtainTools(argv);
    // The person who started this waits for the server, not for the compiler.
    setPriority(10);
    buildEntry(paths, (text) => process.stderr.write(`${text}\n`));
    rmSync(paths.state, { force: true });
    return 0;
  } catch (error) {
    process.stderr.write(`nodegit: ${error.message}\n`);
    recordFailure(paths, error.message);
    return 1;
  }
}

function obtainTools(argv) {
  const before = missingForNodegit();
  if (before.length === 0) return;
  if (mayInstallSystemPackages(argv)) installSystemPackages(before);
  const missing = missingForNodegit();
  if (missing.length > 0) throw new Error(missingPackages(missing));
}

function missingPackages(packages) {
  return `it cannot be compiled without system packages; run:\n  ${installCommand(packages)}`;
}

function dropEntry(paths, reason) {
  process.stderr.write(`nodegit: dropping the cached build: ${reason}\n`);
  const aside = `${paths.directory}.dropped-${process.pid}`;
  renameSync(paths.directory, aside);
  rmSync(aside, { recursive: true, force: true });
}

function usableEntry(paths) {
  try {
    assertUsable(paths);
    return { state: 'ready', path: paths.nodegit };
  } catch (error) {
    if (error.code === 'ENOENT' && !exists(paths.directory)) return { state: 'absent' };
    const unsafe = error instanceof UnusableEntry && error.unsafe;
    return { state: 'failed', reason: error.message, unsafe };
  }
}

function publicState(entry) {
  if (entry.state === 'ready') return { state: 'ready', path: entry.path };
  return entry.state === 'failed' ? { state: 'failed', reason: entry.reason } : { state: 'absent' };
}

function exists(path) {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

function prepareRoot(paths) {
  mkdirSync(paths.root, { recursive: true, mode: 0o700 });
  assertPrivateRoot(paths.root);
}

function readRecord(paths) {
  try {
    return JSON.parse(readFileSync(paths.state, 'utf8'));
  } catch {
    // None yet, or torn by a crash: both mean that nothing is known about a build.
    return undefined;
  }
}

function recordFailure(paths, reason) {
  writeRecord(paths, { state: 'failed', reason, at: Date.now() });
  return { state: 'failed', reason };
}

function writeRecord(paths, record) {
  const temporary = `${paths.state}.${process.pid}`;
  writeFileSync(temporary, `${JSON.stringify(record)}\n`, { mode: 0o600 });
  renameSync(temporary, paths.state);
}

async function main([command, ...argv]) {
  if (command === 'build') return buildUnderLock(argv);
  const ensure = command === 'ensure';
  if (!ensure && command !== 'status') {
    process.stderr.write('usage: nodegit.mjs status | ensure [--install-system-packages]\n');
    return 2;
  }
  const install = mayInstallSystemPackages(argv);
  const state = ensure ? await ensureNodegit({ installSystemPackages: install }) : nodegitState();
  process.stdout.write(`${JSON.stringify(state)}\n`);
  return ensure && state.state !== 'ready' ? 1 : 0;
}

const started = process.argv[1] !== undefined && realpathSync(process.argv[1]) === import.meta.filename;
if (started) process.exitCode = await main(process.argv.slice(2));
