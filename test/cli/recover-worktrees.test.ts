import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { assert, expect, it, onTestFinished } from 'vitest';
import { type ProcessOwner, runningProcess } from '../../src/capability/process-owner.ts';
import { runCommandLine } from '../../src/cli/run.ts';
import { type BranchName, type CommitOid, parseBranchName, parseCommitOid } from '../../src/git/values.ts';
import { journalName, printJournal } from '../../src/worktrees/journal.ts';
import { git, makeRepository } from '../support/http-lab.ts';
import { addOwnWorktree } from '../support/http-worktrees.ts';
import { temporaryDirectory } from '../support/state.ts';

const dead: ProcessOwner = { pid: '1', startTime: '1', pidNamespace: '1', boot: '00000000' };

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
  const oid = parseCommitOid((await git(main, 'rev-parse', 'HEAD')).trim()) as CommitOid;
  const leave = async (txId: string, owner: ProcessOwner) => {
    const plan = {
      leaf: `left-${txId}`,
      branch: parseBranchName(txId) as BranchName,
      oid,
      ownsBranch: true,
      intent: 'branch-off',
      baseOid: oid,
      baseName: null,
      copiedFrom: null,
      upstream: null,
      sourceTitle: null,
      pullNumber: null,
      createdAtMs: 1,
    } as const;
    const journal = {
      txId,
      fingerprint: null,
      owner,
      phase: 'prepared',
      plan,
      root: null,
      gitDirectory: null,
    } as const;
    await writeFile(join(home, journalName(txId)), printJournal(journal), { mode: 0o600 });
    return join(home, plan.leaf);
  };
  const [ours, theirs] = ['transaction-of-the-dead', 'transaction-of-the-living'];
  const gone = await leave(ours, dead);
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
