import { readFile } from 'node:fs/promises';
import type { Cleanup } from '../harness/cleanup.ts';
import type { Contest } from '../harness/trial.ts';
import { readContest } from '../sides/read-contest.ts';

interface Read4kOptions {
  readonly depth: number;
  readonly width: number;
  readonly files?: number;
  readonly changing?: boolean;
}

export function prepare(cleanup: Cleanup, options: Read4kOptions): Promise<Contest> {
  return readContest(cleanup, {
    ...options,
    size: 4096,
    theirs: () => (target) => readFile(target.absolutePath),
  });
}
