import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { git } from '../support/git.ts';
import { makeTree } from '../support/tree.ts';
import { outcomeOf, useActionLab } from './action-lab.ts';
import { discardConfirmed, stateOf } from './discard-lab.ts';

const place = useActionLab({ archives: { quotaBytes: 20_000, fileBytes: 9_000, entries: 6 } });

describe('R41: what cannot be kept is not destroyed', () => {
  const rows: readonly (readonly [
    title: string,
    sizes: Readonly<Record<string, number>>,
    outcome: string,
  ])[] = [
    ['a file over the limit', { small: 1, large: 9_001 }, 'not_archivable: file-too-large'],
    ['more than the quota', { a: 8_000, b: 8_000, c: 8_000 }, 'archive_quota_exceeded'],
    [
      'more files than an archive holds',
      { a: 1, b: 1, c: 1, d: 1, e: 1, f: 1 },
      'not_archivable: too-many-entries',
    ],
  ];
  it.each(rows)('%s', async (_title, sizes, outcome) => {
    const { repo, lab } = place;
    await makeTree(repo, ['staged: 1']);
    await git(repo, 'add', 'staged');
    for (const [name, size] of Object.entries(sizes))
      await writeFile(join(repo, name), Buffer.alloc(size, 'x'));
    const before = await stateOf(repo);
    expect(await outcomeOf(discardConfirmed(lab.service, repo))).toBe(outcome);
    expect(await stateOf(repo)).toEqual(before);
    expect(await lab.service.actions.discarded(repo)).toEqual([]);
  });

  it('what another discard has kept counts, whichever repository it was of', async () => {
    const { repo, lab } = place;
    const other = await lab.repository('other');
    const fill = (path: string) => writeFile(join(path, 'f'), Buffer.alloc(8_000, 'x'));
    for (const path of [repo, other]) {
      await fill(path);
      await discardConfirmed(lab.service, path);
    }
    await fill(repo);
    const before = await stateOf(repo);
    await expect(discardConfirmed(lab.service, repo)).rejects.toMatchObject({
      code: 'archive_quota_exceeded',
      details: { quotaBytes: 20_000, oldest: expect.stringMatching(/^\d{17}-/) },
    });
    expect(await stateOf(repo)).toEqual(before);
    expect(await lab.service.actions.discarded(repo)).toHaveLength(1);
  });
});
