import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DiffFile } from '../../src/git/diff-file.ts';
import { applied, treeOfChanges, treeWithPart } from '../support/apply-diff.ts';
import { madeHistories } from '../support/diff-histories.ts';
import { git, makeRepository } from '../support/git.ts';
import { Maker } from '../support/history-maker.ts';
import { createDiffLab, type DiffLab, emptyTree } from './diff-lab.ts';

let lab: DiffLab;
beforeAll(async () => {
  lab = await createDiffLab();
});
afterAll(() => lab[Symbol.asyncDispose]());

/** A clone of a history made by hand, registered. */
async function cloneOf(name: string): Promise<string> {
  const [origin, clone] = [`origin of ${name}`, `clone of ${name}`];
  const path = `${lab.lab.place}/${origin}`;
  await makeRepository(path);
  madeHistories[name]?.history(new Maker(path));
  await git(lab.lab.place, 'clone', '-q', '--no-local', origin, clone);
  return await lab.lab.register(clone);
}

/** What reaches a client, and nothing else. */
function received({ files, tooLarge }: { files: readonly DiffFile[]; tooLarge: boolean }): DiffFile[] {
  expect(tooLarge).toBe(false);
  expect(files.filter(({ status }) => status === 'too_large')).toEqual([]);
  return JSON.parse(JSON.stringify(files)) as DiffFile[];
}

const oidOf = async (path: string, revision: string) => (await git(path, 'rev-parse', revision)).trim();

describe('R20: what a diff says, applied by `git apply` to the tree that it is against, gives the tree that it is of', () => {
  it.each(Object.keys(madeHistories))(
    'a clone with %s, in every mode',
    { timeout: 120_000 },
    async (name) => {
      const path = await cloneOf(name);
      const commits = (await git(path, 'log', '--all', '--format=%H %T %P')).trim().split('\n');
      for (const line of commits) {
        const [commit = '', tree = '', parent] = line.split(' ');
        const from = parent === undefined ? emptyTree : parent;
        const answer = await lab.commit(path, commit);
        expect([name, commit, await applied(path, from, received(answer), tree)]).toEqual([
          name,
          commit,
          tree,
        ]);
      }

      madeHistories[name]?.work(new Maker(path));
      const [head, root] = [
        await oidOf(path, 'HEAD^{tree}'),
        (await git(path, 'rev-list', 'HEAD')).trim().slice(-40),
      ];
      const now = await treeOfChanges(path);
      expect(now).not.toBe(head);
      const origin = { baseOid: root, baseName: 'main' };
      for (const [mode, from] of [
        ['uncommitted', head],
        ['session', head],
        ['task', root],
      ] as const) {
        const answer = await lab.diff(path, { mode }, { origin });
        expect(answer.untrackedOmitted).toBe(0);
        expect([mode, await applied(path, from, received(answer), now)]).toEqual([mode, now]);
        if (mode === 'session') continue;
        for (const part of madeHistories[name]?.paths ?? []) {
          const below = await lab.diff(path, { mode, path: part }, { origin });
          const tree = await treeWithPart(path, from, now, part);
          expect([mode, part, await applied(path, from, received(below), now)]).toEqual([mode, part, tree]);
        }
      }
      const answer = await lab.diff(path, { mode: 'base', base: root });
      expect(await applied(path, root, received(answer), head)).toBe(head);
    },
  );
});
