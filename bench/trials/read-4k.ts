import { readFile } from 'node:fs/promises';
import type { Cleanup } from '../harness/cleanup.ts';
import type { Contest } from '../harness/trial.ts';
import { readContest } from '../sides/read-contest.ts';

export function prepare(cleanup: Cleanup, depth: number, width: number, files = width): Promise<Contest> {
  return readContest(cleanup, {
    depth,
    size: 4096,
    width,
    files,
    theirs: () => (target) => readFile(target.absolutePath),
  });
}
