import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parseBaseRevision } from '../../src/git/base-revision.ts';
import { readBranches } from '../../src/git/branches.ts';
import { readCommits } from '../../src/git/commits.ts';
import { type AuthorityLab, createLab } from '../support/authority-lab.ts';
import { git, makeRepository } from '../support/git.ts';
import { type MadeCommit, writeHistory } from '../support/history.ts';

let lab: AuthorityLab;

beforeAll(async () => {
  lab = await createLab({ mode: 'git' });
});

afterAll(async () => {
  await lab[Symbol.asyncDispose]();
});

/** Numbers below one, the same ones for the same seed (xorshift32). */
function randomNumbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
}

/** Forks, octopus merges, further roots, and clocks that go backwards. */
function randomHistory(random: (below: number) => number, length: number): MadeCommit[] {
  return Array.from({ length }, (_, index) => {
    const count = random(40) === 0 ? 0 : 1 + (random(3) === 0 ? random(3) : 0);
    const parents = new Set<number>();
    for (let one = 0; one < count && index > 0; one += 1) parents.add(Math.max(0, index - 1 - random(6)));
    return { parents: [...parents], at: 100_000 + index * 10 - random(200) };
  });
}

/** Git as nobody wraps it, asked for all of it. */
async function lines(path: string, ...words: readonly string[]): Promise<readonly string[]> {
  return (await git(path, ...words)).split('\n').slice(0, -1);
}

it.each(Array.from({ length: 12 }, (_, index) => index + 1))(
  'R22: on random history %i, commits and branches are what plain Git says',
  async (seed) => {
    const random = randomNumbers(seed * 7919);
    const path = join(lab.place, `model-${seed}`);
    await makeRepository(path);
    const length = seed % 3 === 0 ? 320 : 60;
    const commits = randomHistory(random, length);
    const pick = () => length - 1 - random(seed % 3 === 0 ? 30 : 50);
    await writeHistory(path, commits, {
      'refs/heads/topic': length - 1,
      'refs/remotes/origin/topic': pick(),
      'refs/heads/main': seed % 3 === 0 ? random(60) : pick(),
      'refs/remotes/origin/main': seed % 3 === 0 ? random(60) : pick(),
      'refs/heads/third': pick(),
      'refs/remotes/origin/third': pick(),
    });
    await git(path, 'remote', 'add', 'origin', '/nonexistent');
    await git(path, 'config', 'branch.topic.remote', 'origin');
    await git(path, 'config', 'branch.topic.merge', 'refs/heads/topic');
    await git(path, 'symbolic-ref', 'HEAD', 'refs/heads/topic');
    await lab.register(`model-${seed}`);
    await using capability = await lab.authority.authorizeRepository(path);

    for (const name of ['refs/heads/main', 'refs/remotes/origin/main', 'refs/heads/third']) {
      const base = parseBaseRevision(name);
      if (base === null) throw new Error('no base');
      const listing = await readCommits(capability, lab.git, { base, managed: null });
      const found = await git(path, 'merge-base', name, 'HEAD').catch(() => null);
      expect(listing.baseRef).toBe(found?.trimEnd() ?? null);
      const start = found?.trimEnd() ?? name;
      const all = await lines(path, 'rev-list', 'HEAD', `^${start}`);
      expect(listing.commits.map(({ sha }) => sha)).toEqual(all.slice(0, 200));
      expect(listing.truncated ?? false).toBe(all.length > 200);
      const unpushed = new Set(
        await lines(path, 'rev-list', 'HEAD', `^${start}`, '^refs/remotes/origin/topic'),
      );
      expect(listing.commits.filter((commit) => commit.unpushed).map(({ sha }) => sha)).toEqual(
        all.slice(0, 200).filter((sha) => unpushed.has(sha)),
      );
    }

    for (const branch of (await readBranches(capability, lab.git)).branches) {
      if (branch.localOid === branch.remoteOid) continue;
      const range = `refs/heads/${branch.name}...refs/remotes/origin/${branch.name}`;
      const counts = (await git(path, 'rev-list', '--left-right', '--count', range)).trimEnd();
      expect([branch.name, `${branch.localAhead}\t${branch.localBehind}`]).toEqual([branch.name, counts]);
    }
  },
);
