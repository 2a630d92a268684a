/**
 * Runs the trials whose ids hold one of the words, or all, and prints the ratios.
 *
 *   --check    exit 1 when a must is missed
 *   --quick    few rounds, a smoke test; nothing is recorded
 *   --publish  also write the table into docs/performance.md; only for a whole, full run
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { currentLoad, describeMachine, type Machine } from './harness/machine.ts';
import { markdownTable, terminalLine, withTable } from './harness/report.ts';
import { fullScale, meets, type Outcome, quickScale, type Trial } from './harness/trial.ts';
import { trials } from './trials.ts';

const project = join(import.meta.dirname, '../..');
/** Longer than the longest trial takes on a slow machine; a trial that hangs is a failure, not a wait. */
const longestTrialMs = 20 * 60_000;

const { values: options, positionals: words } = parseArgs({
  allowPositionals: true,
  options: {
    check: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
    publish: { type: 'boolean', default: false },
  },
});
if (options.publish && (options.quick || words.length > 0)) {
  throw new Error('--publish needs a whole and full run');
}
process.exitCode = await main();

async function main(): Promise<number> {
  const chosen = trials.filter(({ id }) => words.length === 0 || words.some((word) => id.includes(word)));
  if (chosen.length === 0) {
    console.error(`no trial has such a name; there are: ${trials.map(({ id }) => id).join(', ')}`);
    return 2;
  }
  const before = await describeMachine((options.quick ? quickScale : fullScale).rounds);
  const outcomes: Outcome[] = [];
  let failed = 0;
  for (const trial of chosen) {
    try {
      for (const outcome of await runInChild(trial)) outcomes.push(outcome);
    } catch (error) {
      failed += 1;
      console.error(`${trial.id}: ${error instanceof Error ? error.message : error}`);
    }
  }
  const machine = { ...before, loadAfter: currentLoad() };
  if (!options.quick) await record(machine, outcomes);
  if (options.publish && failed === 0) await publish(machine, outcomes);
  const missed = outcomes.filter((outcome) => !meets(outcome.figure, outcome.must));
  console.log(`${outcomes.length} measured, ${missed.length} below their must, ${failed} trials failed`);
  return failed > 0 || (options.check && missed.length > 0) ? 1 : 0;
}

async function runInChild(trial: Trial): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = [];
  const child = fork(
    join(import.meta.dirname, 'run-trial.js'),
    [trial.id, options.quick ? 'quick' : 'full'],
    { execArgv: ['--expose-gc', '--enable-source-maps'] },
  );
  child.on('message', (message) => {
    const outcome = message as Outcome;
    outcomes.push(outcome);
    console.log(terminalLine(outcome));
  });
  const watchdog = setTimeout(() => child.kill('SIGKILL'), longestTrialMs);
  // The channel closes after its last message; the exit alone may come before it.
  const [[code, signal]] = await Promise.all([once(child, 'exit'), once(child, 'disconnect')]);
  clearTimeout(watchdog);
  if (code !== 0) throw new Error(`the trial ended with ${signal ?? `exit code ${code}`}`);
  return outcomes;
}

async function record(machine: Machine, outcomes: readonly Outcome[]): Promise<void> {
  const directory = join(project, 'bench/results');
  await mkdir(directory, { recursive: true });
  const name = `${machine.startedAt.slice(0, 19).replaceAll(':', '-')}Z.json`;
  await writeFile(join(directory, name), `${JSON.stringify({ machine, outcomes }, null, 1)}\n`);
}

async function publish(machine: Machine, outcomes: readonly Outcome[]): Promise<void> {
  const path = join(project, 'docs/performance.md');
  await writeFile(path, withTable(await readFile(path, 'utf8'), markdownTable(machine, outcomes)));
}
