/** Runs the steps that are not fresh, one set-up at a time per checkout, then sees to nodegit. */
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { findProgram } from '../host.mjs';
import { ensureNodegit, startNodegitBuild } from '../nodegit.mjs';
import { mayInstallSystemPackages } from '../system-packages.mjs';
import { SetupFailure, stepsFor } from './steps.mjs';

const root = join(import.meta.dirname, '../..');
const insideLock = '--inside-lock';
const longestWaitSeconds = 60 * 60;
const lockTimedOut = 75;

/** Makes the checkout ready; returns the exit code. */
export async function setUp(argv) {
  try {
    if (argv.includes(insideLock)) {
      performSteps(argv);
      return 0;
    }
    const status = allFresh(argv) ? 0 : runUnderLock(argv);
    if (status !== 0) return status;
  } catch (error) {
    if (!(error instanceof SetupFailure)) throw error;
    console.error(`setup: ${error.message}`);
    return 1;
  }
  if (argv.includes('--without-nodegit')) return 0;
  // Outside the lock: another start of the server must not wait for a compiler it does not need.
  return await seeToNodegit(argv);
}

function stepsOf(argv) {
  return stepsFor(root, { testAddon: argv.includes('--test-addon'), argv });
}

function allFresh(argv) {
  return stepsOf(argv).every((step) => step.stamp.isFresh());
}

// flock(1) holds the lock in the kernel: it is free again however its holder ends.
function runUnderLock(argv) {
  if (process.platform !== 'linux') {
    performSteps(argv);
    return 0;
  }
  if (!findProgram('flock')) throw new SetupFailure('flock is missing; it comes with util-linux');
  mkdirSync(join(root, '.setup'), { recursive: true });
  const lock = ['-w', String(longestWaitSeconds), '-E', String(lockTimedOut), join(root, '.setup/lock')];
  const inner = [process.execPath, join(root, 'scripts/setup.mjs'), insideLock, ...argv];
  const { status } = spawnSync('flock', [...lock, ...inner], { stdio: ['ignore', 'inherit', 'inherit'] });
  if (status === lockTimedOut) throw new SetupFailure('another set-up of this checkout does not end');
  return status ?? 1;
}

function performSteps(argv) {
  for (const step of stepsOf(argv)) {
    // Whoever held the lock before us may have done it.
    if (step.stamp.isFresh()) continue;
    console.error(`setup: ${step.name}`);
    step.perform();
    step.stamp.record();
  }
}

async function seeToNodegit(argv) {
  const options = { installSystemPackages: mayInstallSystemPackages(argv) };
  const wait = argv.includes('--wait-nodegit');
  const state = wait ? await ensureNodegit(options) : startNodegitBuild(options);
  if (state.state === 'ready') return 0;
  if (state.state === 'building') {
    console.error(
      'setup: nodegit is being built in the background; Git alone proves repositories until then',
    );
    return 0;
  }
  console.error(`setup: nodegit cannot be had: ${state.reason}`);
  if (wait) return 1;
  console.error('setup: going on without it; Git alone proves repositories');
  return 0;
}
