import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import type { Cleanup } from '../harness/cleanup.ts';
import type { Contest, Side } from '../harness/trial.ts';
import { guardedRead, makeReadFixture, type ReadOperation, readSide } from '../sides/read-contest.ts';
import { guardedReplace, type ReplaceOperation } from '../sides/replace-contest.ts';
import { replaceByHand } from '../sides/replace-in-javascript.ts';
import { randomText, writeRandomFile } from '../sides/scratch.ts';

const size = 4096;
/** A hundredth percentile needs a hundred reads. */
const leastReads = 100;
const nsPerMs = 1e6;

/**
 * Who disturbs the reads. foreign: on both sides the same commits through `node:fs`, as any other part of a host makes them. own: each
 * side's own way to commit.
 */
export type Writers = 'foreign' | 'own';

export async function prepare(cleanup: Cleanup, writers: Writers): Promise<Contest> {
  const fixture = await makeReadFixture(cleanup, { depth: 5, size, width: 1 });
  const { workspace, first } = fixture;
  // Files of their own: a commit of ours names the version before it, which the other writers would have replaced.
  const written = async (name: string): Promise<readonly string[]> => {
    const paths = Array.from({ length: 8 }, (_, index) => `written/${name}-${index}`);
    for (const path of paths) await writeRandomFile(workspace.root, path, size);
    return paths;
  };
  const byHand = (await written('by-hand')).map<ReplaceOperation>((path) => {
    const absolutePath = join(workspace.root, path);
    return (bytes) => replaceByHand(absolutePath, bytes);
  });
  const own = await Promise.all((await written('own')).map((path) => guardedReplace(workspace, path)));

  const contestant = (read: ReadOperation, commits: readonly ReplaceOperation[]): Side => ({
    sample: (budgetMs) => readBesideCommits(() => read(first), commits, budgetMs),
    verify: readSide(fixture, 1, read).verify,
  });
  return {
    ours: contestant(guardedRead(fixture), writers === 'own' ? own : byHand),
    theirs: contestant((target) => readFile(target.absolutePath), byHand),
    statistic: 'p99',
  };
}

async function readBesideCommits(
  read: () => Promise<unknown>,
  commits: readonly ReplaceOperation[],
  budgetMs: number,
): Promise<readonly number[]> {
  const bytes = Buffer.from(randomText(size));
  let reading = true;
  const writing = commits.map(async (commit) => {
    while (reading) await commit(bytes);
  });
  const figures: number[] = [];
  try {
    const end = performance.now() + budgetMs;
    while (figures.length < leastReads || performance.now() < end) {
      const start = performance.now();
      await read();
      figures.push((performance.now() - start) * nsPerMs);
      // Reads that never wait would keep the event loop, and with it the writers, from going on.
      await turn();
    }
  } finally {
    reading = false;
    await Promise.all(writing);
  }
  return figures;
}
