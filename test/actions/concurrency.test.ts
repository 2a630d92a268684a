import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { git } from '../support/git.ts';
import { createActionLab, headOf, outcomeOf } from './action-lab.ts';

const run = promisify(execFile);

/** A person at a terminal: tries again while somebody else holds a lock, and says what was committed. */
async function personCommits(path: string, name: string): Promise<string | null> {
  await writeFile(join(path, name), name);
  const person = ['-c', 'user.name=p', '-c', 'user.email=p@example.invalid'];
  try {
    await git(path, 'add', '--', name);
    await run('git', ['-C', path, ...person, 'commit', '-q', '-m', name, '--', name]);
    return name;
  } catch {
    return null;
  }
}

it('run-parallel-commit, R22: of two equal commits one is made, and the other is told that nothing is left', async () => {
  await using lab = await createActionLab();
  const repo = await lab.repository('PAR');
  const other = await lab.another();
  const before = await headOf(repo);
  await writeFile(join(repo, 'f'), 'x\n');
  const outcomes = await Promise.all(
    [lab.service, other].map((service) =>
      outcomeOf(service.actions.commit(repo, { message: 'parallel commit' })),
    ),
  );
  expect(outcomes.sort()).toEqual(['action_refused: actions.commit.clean', 'ok']);
  expect(await git(repo, 'log', '-1', '--format=%P %s')).toBe(`${before} parallel commit\n`);
});

it('R22: two servers, a worktree and a person commit at once: every commit that was told of is there, and no lock stays', async () => {
  await using lab = await createActionLab();
  const repo = await lab.repository('busy');
  const tree = join(lab.place, 'tree');
  await git(repo, 'worktree', 'add', '-q', '-b', 'topic', tree);
  const services = [lab.service, await lab.another()];
  const told: string[] = [];
  const codes = new Set<string>();
  const rounds = 12;
  const writers = [
    ...services.map(async (service, index) => {
      for (let round = 0; round < rounds; round += 1) {
        await writeFile(join(repo, `s${index}-${round}`), 'x\n');
        const commit = service.actions.commit(repo, { message: `s${index}-${round}` });
        codes.add(await outcomeOf(commit.then(({ oid }) => told.push(oid))));
      }
    }),
    (async () => {
      for (let round = 0; round < rounds; round += 1) {
        await writeFile(join(tree, `t-${round}`), 'x\n');
        told.push((await lab.service.actions.commit(tree, { message: `t-${round}` })).oid);
      }
    })(),
  ];
  const person = (async () => {
    const made: string[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const name = await personCommits(repo, `p-${round}`);
      if (name !== null) made.push(name);
    }
    return made;
  })();
  await Promise.all(writers);
  const made = await person;
  // Refusals are allowed where the person was first; each names its reason.
  const known = [
    'ok',
    'action_refused: actions.commit.clean',
    'ref_moved: stale-target',
    'ref_moved: exit-status',
  ];
  expect(known).toEqual(expect.arrayContaining([...codes]));
  expect(codes.has('ok')).toBe(true);
  const reachable = new Set((await git(repo, 'rev-list', '--all')).trim().split('\n'));
  expect(told.filter((oid) => !reachable.has(oid))).toEqual([]);
  const subjects = new Set((await git(repo, 'log', '--all', '--format=%s')).trim().split('\n'));
  expect(made.filter((name) => !subjects.has(name))).toEqual([]);
  for (const service of services) await outcomeOf(service.actions.commit(repo, { message: 'rest' }));
  expect(await git(repo, 'status', '--porcelain')).toBe('');
  expect(await git(tree, 'status', '--porcelain')).toBe('');
  await git(repo, 'fsck', '--strict', '--no-dangling');
  const { stdout } = await run('find', [join(repo, '.git'), '-name', '*.lock']);
  expect(stdout).toBe('');
}, 120_000);
