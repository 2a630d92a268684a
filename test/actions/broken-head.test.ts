import { readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { git } from '../support/git.ts';
import { type ActionLab, createActionLab, outcomeOf } from './action-lab.ts';

let lab: ActionLab;
beforeAll(async () => {
  lab = await createActionLab();
});
afterAll(() => lab[Symbol.asyncDispose]());

const nowhere = `${'1'.repeat(40)}\n`;

/** What is written in the place of a branch. */
const broken: readonly [string, (ref: string, repo: string) => Promise<unknown>][] = [
  ['garbage', (ref) => writeFile(ref, 'garbage\n')],
  ['nothing', (ref) => writeFile(ref, '')],
  ['the name of an object that is not there', (ref) => writeFile(ref, nowhere)],
  ['no commit', async (ref, repo) => writeFile(ref, await git(repo, 'hash-object', '-w', 'kept'))],
  ['a symbolic ref to nothing', (ref) => writeFile(ref, 'ref: refs/heads/none\n')],
  ['a link that leads nowhere', (ref) => symlink('none', ref)],
];

it.each(
  broken.flatMap(([what, write]) => [
    { branch: 'main', what, write },
    { branch: 'brünn', what, write },
  ]),
)('R20: a branch $branch that holds $what is not taken for an unborn one', async (row) => {
  const repo = await lab.repository(`${row.branch} ${row.what}`);
  await writeFile(join(repo, 'kept'), 'one\n');
  const { oid } = await lab.service.actions.commit(repo, { message: 'first' });
  if (row.branch !== 'main') await git(repo, 'branch', '-m', row.branch);
  await writeFile(join(repo, 'new'), 'two\n');
  const ref = join(repo, '.git/refs/heads', row.branch);
  await rm(ref);
  await row.write(ref, repo);
  const before = await stateOf(repo);
  for (const addAll of [true, false]) {
    const commit = lab.service.actions.commit(repo, { message: 'second', addAll });
    expect(await outcomeOf(commit)).toBe('git_failed: broken-head');
  }
  expect(await outcomeOf(lab.service.actions.push(repo))).toBe('git_failed: broken-head');
  for (const read of [lab.service.reads.diff, lab.service.reads.commits]) {
    expect(await outcomeOf(read(repo, {}))).toMatch(/^git_failed: (?:broken-head|broken-ref|exit-status)$/);
  }
  expect(await stateOf(repo)).toEqual(before);
  await git(repo, 'cat-file', '-e', oid);
});

it('R20, W39: a tag called as the full name of an unborn branch is not its commit', async () => {
  const repo = await lab.repository('tagged');
  await writeFile(join(repo, 'kept'), 'one\n');
  await lab.service.actions.commit(repo, { message: 'first' });
  await git(repo, 'update-ref', 'refs/tags/refs/heads/new', 'HEAD');
  await git(repo, 'checkout', '-q', '--orphan', 'new');
  const { oid } = await lab.service.actions.commit(repo, { message: 'root' });
  expect(await git(repo, 'for-each-ref', '--format=%(objectname) %(parent)', 'refs/heads/new')).toBe(
    `${oid} \n`,
  );
});

/** The index, the refs that can be read, and what they reach. */
async function stateOf(repo: string) {
  return {
    index: (await readFile(join(repo, '.git/index'))).toString('base64'),
    refs: await git(repo, 'for-each-ref', '--format=%(refname) %(objectname)', 'refs/tags', 'refs/remotes'),
    head: await readFile(join(repo, '.git/HEAD'), 'utf8'),
    objects: await git(repo, 'cat-file', '--batch-all-objects', '--batch-check'),
    status: await git(repo, 'ls-files', '--stage'),
  };
}
