import { readFile } from 'node:fs/promises';
import type { Cleanup } from '../harness/cleanup.ts';
import type { Contest } from '../harness/trial.ts';
import { readContest } from '../sides/read-contest.ts';

export function prepare(cleanup: Cleanup): Promise<Contest> {
  return readContest(cleanup, {
    depth: 5,
    size: 1024 * 1024,
    width: 1,
    theirs: () => (target) => readFile(target.absolutePath),
  });
}
