import { describe, expect, it } from 'vitest';
import { git } from '../support/git.ts';
import { addOrigin, oidOf } from '../support/history.ts';
import { useCommits } from '../support/http-commits.ts';
import { ask, get } from './public-bugs/bug-table.ts';

const { here, list, subjects, refused, line } = useCommits();

const noBases = [
  '',
  'HEAD',
  'HEAD~1',
  '@',
  '@{-1}',
  '@{upstream}',
  ':/commit',
  'main^',
  'main..topic',
  '^main',
  '--all',
  '--output=/tmp/x',
  '-n1',
  'main topic',
  'main\n--all',
  'refs/tags/v1',
  'refs/heads/',
  'refs/heads/-x',
  'refs/remotes/other/main',
  'v1',
  'nothing',
  'abcdef0',
  '0'.repeat(40),
  'f'.repeat(64),
];

describe('the base of GET /commits', () => {
  it('R20: every form of a base that names a commit or a branch is accepted', async () => {
    await addOrigin(here.main);
    await line(5, { 'refs/heads/main': 1, 'refs/remotes/origin/main': 2, 'refs/heads/topic': 4 });
    const oid = await oidOf(here.main, 'refs/heads/main');
    const forms: readonly (readonly [string, string, number])[] = [
      [oid, oid, 3],
      [oid.toUpperCase(), oid, 3],
      ['refs/heads/main', 'main', 3],
      ['main', 'main', 2],
      ['origin/main', 'origin/main', 2],
      ['refs/remotes/origin/main', 'origin/main', 2],
      ['topic', 'topic', 0],
    ];
    for (const [form, label, count] of forms) {
      const { base, commits } = await list(here.main, form);
      expect([form, base, commits.length]).toEqual([form, label, count]);
    }
  });

  it('R20: no option, expression, abbreviation, tag or other remote is a base', async () => {
    await line(2, {
      'refs/heads/main': 0,
      'refs/heads/topic': 1,
      'refs/tags/v1': 0,
      'refs/remotes/other/main': 0,
    });
    for (const base of noBases) await refused(here.main, base);
  });

  it('R20: the name of a tree, and a ref that leads to none, are no base', async () => {
    await line(2, { 'refs/heads/main': 0, 'refs/heads/topic': 1 });
    const tree = await oidOf(here.main, 'main^{tree}');
    await git(here.main, 'update-ref', 'refs/remotes/origin/tree', tree);
    for (const base of [tree, 'origin/tree']) await refused(here.main, base);
  });

  it('R20: sixty-four digits name no commit of this repository, though a branch is called so', async () => {
    await line(2, { 'refs/heads/main': 0, 'refs/heads/topic': 1 });
    await git(here.main, 'branch', 'a'.repeat(64), 'main');
    await refused(here.main, 'a'.repeat(64));
  });

  it('W39: neither the branch nor the base is ever a tag of its name', async () => {
    await addOrigin(here.main);
    await line(5, {
      'refs/heads/main': 2,
      'refs/heads/topic': 4,
      'refs/remotes/origin/topic': 3,
      'refs/tags/main': 0,
      'refs/tags/topic': 0,
      'refs/tags/origin/topic': 0,
      'refs/tags/refs/heads/gone': 0,
    });
    const listing = await list(here.main, 'main');
    expect(listing).toMatchObject({ base: 'main', remoteRef: 'refs/remotes/origin/topic' });
    expect(listing.commits.map(({ subject, unpushed }) => [subject, unpushed])).toEqual([
      ['commit 4', true],
      ['commit 3', false],
    ]);
    await refused(here.main, 'refs/heads/gone');
  });

  it('W40: a default branch that is not local is the base, and may be sent back by the name it is told', async () => {
    await addOrigin(here.main);
    await line(3, { 'refs/heads/topic': 2, 'refs/remotes/origin/main': 0 });
    await git(here.main, 'branch', '-q', '-D', 'main');
    const { body } = await ask(here.lab, get('/branches', { cwd: here.main }), 200);
    expect(body?.['defaultBranch']).toBe('origin/main');
    const listing = await list(here.main);
    expect(listing).toMatchObject({ base: 'origin/main', baseRef: await oidOf(here.main, 'origin/main') });
    expect(await list(here.main, 'origin/main')).toEqual(listing);
    await git(here.main, 'branch', 'origin/main', 'topic');
    expect(await list(here.main, 'origin/main')).toEqual(listing);
  });

  it('W40: a branch whose own name begins with origin/ is found where origin has none', async () => {
    await line(3, { 'refs/heads/main': 0, 'refs/heads/topic': 2, 'refs/heads/origin/x': 1 });
    expect(await subjects(here.main, 'origin/x')).toEqual(['commit 2']);
  });
});
