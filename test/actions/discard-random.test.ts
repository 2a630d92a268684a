import { expect, it } from 'vitest';
import { git } from '../support/git.ts';
import { randomOf } from '../support/random-of.ts';
import { readTree } from '../support/tree.ts';
import { useActionLab } from './action-lab.ts';
import { commitAll, discardConfirmed } from './discard-lab.ts';
import { editAtRandom } from './random-edits.ts';

const place = useActionLab();
const seeds = Array.from({ length: process.env['WORKSPACE_AUTHORITY_LONG'] === '1' ? 200 : 8 }, (_, n) => n);

async function filesOf(repo: string): Promise<readonly string[]> {
  // Git knows no directories.
  return (await readTree(repo)).filter((line) => !line.startsWith('.git/') && !line.endsWith('/'));
}

async function indexOf(repo: string): Promise<Map<string, string>> {
  const lines = (await git(repo, 'ls-files', '-s', '-z')).split('\0').slice(0, -1);
  return new Map(
    lines.map((line) => [line.slice(line.indexOf('\t') + 1), line.slice(0, line.indexOf('\t'))]),
  );
}

it.each(seeds)(
  'R22: whatever was changed, a discard leaves the commit and an archive of all the rest, seed %i',
  async (seed) => {
    const { repo, lab } = place;
    const random = randomOf(seed);
    await editAtRandom(repo, random, 8);
    await commitAll(repo);
    const committed = await filesOf(repo);
    await editAtRandom(repo, random, 5);
    await git(repo, 'add', '-A');
    const staged = await indexOf(repo);
    await editAtRandom(repo, random, 5);
    const changed = await filesOf(repo);
    if ((await git(repo, 'status', '--porcelain')) === '') return;

    const { archive } = await discardConfirmed(lab.service, repo);
    expect(await git(repo, 'status', '--porcelain')).toBe('');
    expect(await filesOf(repo)).toEqual(committed);
    const clean = await indexOf(repo);

    const outcome = await lab.service.actions.restoreDiscarded(repo, { archive });
    // Only a path that is a directory on one side and a file on the other can be in the way of itself.
    const conflicts = outcome.conflicts.map(({ path }) => path);
    for (const path of conflicts) expect(isOtherKind(path, [...clean.keys()])).toBe(true);
    const now = new Set(await filesOf(repo));
    const inConflict = (line: string) =>
      conflicts.some((path) => line.startsWith(`${path}: `) || line.startsWith(`${path} -> `));
    for (const line of changed) if (!inConflict(line)) expect(now).toContain(line);
    const index = await indexOf(repo);
    for (const path of outcome.staged) expect(index.get(path)).toBe(staged.get(path));
    for (const [path, entry] of staged) {
      const isChange = clean.get(path) !== entry;
      if (isChange && !outcome.staged.includes(path)) expect(isOtherKind(path, [...clean.keys()])).toBe(true);
    }
    await git(repo, 'fsck', '--strict');
  },
);

/** Whether one of the others lies below the path, or is a directory above it. */
function isOtherKind(path: string, others: readonly string[]): boolean {
  return others.some((other) => other.startsWith(`${path}/`) || path.startsWith(`${other}/`));
}
