import { rm } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { git } from '../support/git.ts';
import { randomOf } from '../support/random-of.ts';
import { useActionLab } from './action-lab.ts';
import { editAtRandom, type Random } from './random-edits.ts';

const here = useActionLab();
const seeds = Array.from({ length: process.env['WORKSPACE_AUTHORITY_LONG'] === '1' ? 100 : 6 }, (_, n) => n);
const stepsOfSeed = 10;

/** What somebody does with plain Git; what does not work where things stand changes nothing. */
const deeds: readonly ((repo: string, random: Random) => Promise<unknown>)[] = [
  (repo, random) => editAtRandom(repo, random, 1 + random(3)),
  (repo, random) => editAtRandom(repo, random, 1).then(() => git(repo, 'add', '-A', '.')),
  (repo) => git(repo, 'add', '-A', '.').then(() => git(repo, 'commit', '-q', '-m', 'more')),
  (repo) => git(repo, 'reset', '-q', '--hard').then(() => git(repo, 'clean', '-q', '-f', '-d')),
  (repo, random) => git(repo, 'checkout', '-q', ['main', 'topic', 'other'][random(3)] as string),
  (repo) => git(repo, 'checkout', '-q', '-B', 'topic'),
  (repo) => git(repo, 'checkout', '-q', '-b', 'other', 'origin/main'),
  (repo) => git(repo, 'checkout', '-q', '--detach'),
  (repo) => git(repo, 'push', '-q', 'origin', 'HEAD'),
  (repo) => git(repo, 'branch', '-q', '-u', 'origin/main'),
  (repo, random) => git(repo, 'merge', '-q', '--no-edit', ['main', 'topic', 'other'][random(3)] as string),
  (repo) => git(repo, 'merge', '--abort'),
  (repo) => git(repo, 'cherry-pick', 'main'),
  (repo) => git(repo, 'cherry-pick', '--abort'),
  (repo, random) => commitElsewhere(repo, random),
];

/** Somebody else's commit on the main branch of `origin`, fetched. */
async function commitElsewhere(repo: string, random: Random): Promise<void> {
  const other = here.beside(`elsewhere-${random(1e9)}`);
  await git(here.lab.place, 'clone', '-q', here.beside('remote.git'), other);
  await editAtRandom(other, random, 2);
  await git(other, 'add', '-A', '.');
  await git(other, 'commit', '-q', '--allow-empty', '-m', 'theirs');
  await git(other, 'push', '-q', 'origin', 'HEAD');
  await git(repo, 'fetch', '-q', 'origin');
  await rm(other, { recursive: true });
}

const orNull = (text: Promise<string>) =>
  text.then(
    (said) => said.trim(),
    () => null,
  );

async function deltaOf(
  repo: string,
  other: string | null,
): Promise<{ ahead: number; behind: number } | null> {
  const counts =
    other === null ? null : await orNull(git(repo, 'rev-list', '--left-right', '--count', `HEAD...${other}`));
  if (counts === null) return null;
  const [ahead = 0, behind = 0] = counts.split(/\s+/).map(Number);
  return { ahead, behind };
}

/** What plain Git says of the checkout, put as the contract (1.6) puts it; null: it may be done. */
async function oracle(repo: string): Promise<Record<string, string | null>> {
  const records = (await git(repo, 'status', '--porcelain=v1', '-z', '--no-renames', '--untracked-files=all'))
    .split('\0')
    .filter((record) => record !== '')
    .map((record) => record.slice(0, 2));
  const isUnmerged = records.some((code) => ['DD', 'AU', 'UD', 'UA', 'DU', 'AA', 'UU'].includes(code));
  const isChanged = records.some((code) => code !== '??');
  const stands = async (name: string) =>
    (await orNull(git(repo, 'rev-parse', '-q', '--verify', name))) !== null;
  const [merging, picking] = [await stands('MERGE_HEAD'), await stands('CHERRY_PICK_HEAD')];
  const branch = await orNull(git(repo, 'symbolic-ref', '-q', '--short', 'HEAD'));
  const upstreamName = await orNull(git(repo, 'rev-parse', '--abbrev-ref', '@{upstream}'));
  const own = branch === null ? null : `refs/remotes/origin/${branch}`;
  const origin = own !== null && (await stands(own)) ? await deltaOf(repo, own) : null;
  const pulled = upstreamName === null ? origin : await deltaOf(repo, upstreamName);
  const base = await deltaOf(repo, 'refs/remotes/origin/main');

  const inProgress = 'actions.merge.inProgress';
  const conflict = isUnmerged ? 'actions.merge.conflict' : null;
  const clean = records.length === 0 ? 'actions.commit.clean' : null;
  const merge =
    merging || picking ? inProgress : (conflict ?? (isChanged ? 'actions.merge.dirtyCurrent' : null));
  const off = branch === null ? 'actions.merge.detached' : null;
  const told: Record<string, string | null> = {
    commit: picking ? inProgress : (conflict ?? (merging ? null : clean)),
    pull:
      off ??
      (pulled === null ? 'actions.pull.noRemote' : pulled.behind === 0 ? 'actions.pull.upToDate' : merge),
    push: branch === null ? 'actions.push.noBranch' : origin?.ahead === 0 ? 'actions.push.nothing' : null,
    mergeToBase: off ?? (base?.ahead === 0 ? 'actions.mergeToBase.nothing' : merge),
    updateFromBase: off ?? (base?.behind === 0 ? 'actions.updateFromBase.upToDate' : merge),
    discard: merging || picking ? inProgress : (conflict ?? clean),
    fetch: null,
    archive: 'actions.archive.notManaged',
  };
  if (branch === 'main') delete told['mergeToBase'];
  return told;
}

describe('the ladder of random states', () => {
  it.each(seeds)(
    'R41, R04: says what plain Git says after each step, seed %i',
    { timeout: 120_000 },
    async (seed) => {
      const random = randomOf(seed);
      const { repo } = here;
      await editAtRandom(repo, random, 8);
      await git(repo, 'add', '-A', '.');
      await git(repo, 'commit', '-q', '--allow-empty', '-m', 'files');
      await git(here.lab.place, 'clone', '-q', '--bare', repo, here.beside('remote.git'));
      await git(repo, 'remote', 'add', 'origin', here.beside('remote.git'));
      await git(repo, 'fetch', '-q', 'origin');
      await git(repo, 'checkout', '-q', '-b', 'topic');
      const done: number[] = [];
      for (let step = 0; step < stepsOfSeed; step += 1) {
        const deed = random(deeds.length);
        done.push(deed);
        await deeds[deed]?.(repo, random).catch(() => undefined);
        const { ladder } = await here.lab.service.reads.actions(repo);
        const told = Object.fromEntries(ladder.map(({ id, reasonKey }) => [id, reasonKey]));
        expect([done, told]).toEqual([done, await oracle(repo)]);
      }
    },
  );
});
