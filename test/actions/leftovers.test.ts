import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { leftoverName, livingOwner } from '../support/leftovers.ts';
import { filesOf, outcomeOf, useActionLab } from './action-lab.ts';

const here = useActionLab();

/** Temporary files as a server in mid-save has them, by who made them. */
const owners = [
  ['of a server that died', {}],
  ['of a server that is saving now', { owner: livingOwner() }],
] as const;

describe('a temporary file of a save', () => {
  it.each(owners)('R15, W11: %s is no change, and no commit takes it', async (_, owner) => {
    const { actions, reads, snapshots } = here.lab.service;
    const name = leftoverName({ target: 'notes', base: 'old\n', next: 'new\n', ...owner });
    await mkdir(join(here.repo, 'deep'));
    await writeFile(join(here.repo, name), 'new\n');
    await writeFile(join(here.repo, 'deep', name), 'new\n');
    expect(await outcomeOf(actions.commit(here.repo, { message: 'm' }))).toBe(
      'action_refused: actions.commit.clean',
    );
    expect(await reads.diff(here.repo, {})).toMatchObject({ files: [], untrackedOmitted: 0 });
    expect(await snapshots.read(here.repo)).toMatchObject({ dirty: false, untrackedCount: 0 });
    await writeFile(join(here.repo, 'deep', 'own.tmp'), 'x\n');
    expect(await reads.diff(here.repo, {})).toMatchObject({ files: [{ path: 'deep/own.tmp' }] });
    await actions.commit(here.repo, { message: 'm' });
    expect(await filesOf(here.repo)).toEqual({ 'deep/own.tmp': 'x\n' });
  });
});

describe('the ignore file of the user', () => {
  it('R20: counts alike for the diff, the snapshot and the commit', async () => {
    const { actions, reads, snapshots } = here.lab.service;
    await writeFile(join(here.repo, 'a.secret'), 'x\n');
    await writeFile(join(here.repo, 'b'), 'x\n');
    expect(await reads.diff(here.repo, {})).toMatchObject({ files: [{ path: 'b' }] });
    expect(await snapshots.read(here.repo)).toMatchObject({ untrackedCount: 1 });
    await actions.commit(here.repo, { message: 'm' });
    expect(await filesOf(here.repo)).toEqual({ b: 'x\n' });
    expect(await reads.diff(here.repo, {})).toMatchObject({ files: [] });
  });
});
