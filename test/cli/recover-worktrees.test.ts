import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { assert, expect, it, onTestFinished } from 'vitest';
import { type ProcessOwner, runningProcess } from '../../src/capability/process-owner.ts';
import { runCommandLine } from '../../src/cli/run.ts';
import { journalName } from '../../src/worktrees/journal.ts';
import { git, makeRepository } from '../support/http-lab.ts';
import { addOwnWorktree } from '../support/http-worktrees.ts';
import { deadOwner, leaveCreation } from '../support/left-creation.ts';
import { temporaryDirectory } from '../support/state.ts';

it('R25, W42: recover tells in a dry run and then does what a dead process left of creations, and leaves those of a live one', async () => {
  const sandbox = await temporaryDirectory();
  const [main, state] = [join(sandbox, 'main'), join(sandbox, 'state')];
  await makeRepository(main);
  const run = async (...words: readonly string[]) => {
    const out: string[] = [];
    const print = (line: string) => out.push(line);
    const code = await runCommandLine([...words, '--state', state], { print, note: print });
    return { code, out: out.join('\n') };
  };
  await run('workspaces', 'add', main);
  const home = dirname(await addOwnWorktree(main, join(state, 'worktrees'), 'whole', null));
  const live = spawn(process.execPath, ['-e', 'process.stdin.resume()'], {
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  await once(live, 'spawn');
  onTestFinished(() => void live.kill());
  const oid = (await git(main, 'rev-parse', 'HEAD')).trim();
  const leave = (txId: string, owner: ProcessOwner) =>
    leaveCreation(home, { branch: txId, oid, txId }, { owner });
  const [ours, theirs] = ['transaction-of-the-dead', 'transaction-of-the-living'];
  const gone = await leave(ours, deadOwner);
  const owner = runningProcess(live.pid ?? 0);
  assert(owner !== null);
  const kept = await leave(theirs, owner);
  const left = `creation left: ${kept}. transaction-owner-live`;
  const journals = async () => (await readdir(home)).filter((name) => name.startsWith('.pending-')).sort();

  const dry = await run('recover', '--dry-run');
  expect(dry.code).toBe(0);
  expect(dry.out.split('\n')).toEqual(
    expect.arrayContaining([`creation would be rolled-back: ${gone}`, left]),
  );
  expect(await journals()).toEqual([journalName(ours), journalName(theirs)]);

  const done = await run('recover');
  expect(done.out.split('\n')).toEqual(expect.arrayContaining([`creation rolled-back: ${gone}`, left]));
  expect(await journals()).toEqual([journalName(theirs)]);

  const again = await run('recover', '--json');
  expect(JSON.parse(again.out).worktrees).toEqual({
    creations: [{ txId: theirs, path: kept, action: 'left', reason: 'transaction-owner-live' }],
    archives: [],
  });
});
