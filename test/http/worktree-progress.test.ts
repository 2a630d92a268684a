import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { openEvents, type StreamBlock } from '../support/event-stream.ts';
import { git } from '../support/git.ts';
import { useWorktreeLab } from '../support/http-worktree-lab.ts';
import { change } from './public-bugs/bug-table.ts';

const at = useWorktreeLab();
const txId = 'transaction-of-progress';
const files = 150;

interface Told {
  readonly cwd: string;
  readonly task: string;
  readonly txId: string | null;
  readonly path: string;
  readonly filesDone: number;
  readonly filesTotal: number;
}

async function commitFiles(repo: string): Promise<void> {
  await mkdir(join(repo, 'many'));
  for (let number = 0; number < files; number += 1)
    await writeFile(join(repo, 'many', `${number}`), 'content\n');
  await git(repo, 'add', '.');
  await git(repo, 'commit', '-qm', 'many files');
}

async function follow(selector: string) {
  const stream = await openEvents(at.lab.server, [selector]);
  onTestFinished(() => stream.leave());
  return stream;
}

const isLast = ({ event, data }: StreamBlock): boolean =>
  event === 'progress' && (data as Told).filesDone === (data as Told).filesTotal;

it('R25: who follows the main checkout hears how far the files of a new worktree are; nobody else does', async () => {
  await commitFiles(at.main);
  const [stream, elsewhere] = [await follow(at.main), await follow(at.lab.repo)];
  const made = await at.lab.server.send(
    change('POST', '/worktrees', { cwd: at.main, intent: 'branch-off', branchName: 'slow' }),
  );
  expect(made.status).toBe(201);
  const told: Told[] = [];
  const last = await stream.until((block) => {
    if (block.event === 'progress') told.push(block.data as Told);
    return isLast(block);
  });
  expect(last).toMatchObject({
    id: null,
    data: { cwd: at.main, task: 'create-worktree', txId: null, path: made.body?.['path'] },
  });
  const done = told.map(({ filesDone }) => filesDone);
  expect(done).toEqual(done.toSorted((left, right) => left - right));
  expect(told.length).toBeGreaterThan(10);
  // The repository begins with a file of its own.
  expect(new Set(told.map(({ filesTotal }) => filesTotal))).toEqual(new Set([files + 1]));
  const heard: (string | null)[] = [];
  await writeFile(join(at.lab.repo, 'untracked-later'), '');
  await elsewhere.until(({ event, data }) => {
    heard.push(event);
    return event === 'snapshot' && (data as { untrackedCount: number }).untrackedCount > 0;
  });
  expect(heard).not.toContain('progress');
});

it('R41: progress names the transaction of the caller', async () => {
  await commitFiles(at.main);
  const sourceSessionId = 'session-of-progress';
  await at.lab.service.sessions?.create({ id: sourceSessionId, cwd: at.main });
  const stream = await follow(at.main);
  const json = { cwd: at.main, intent: 'branch-off', branchName: 'told', txId, sourceSessionId };
  expect((await at.lab.server.send(change('POST', '/worktrees', json))).status).toBe(201);
  expect((await stream.until(isLast)).data).toMatchObject({ txId, filesDone: files + 1 });
});
