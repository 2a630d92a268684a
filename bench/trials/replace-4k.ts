import type { Cleanup } from '../harness/cleanup.ts';
import type { Contest } from '../harness/trial.ts';
import { replaceContest } from '../sides/replace-contest.ts';
import { replaceByHand } from '../sides/replace-in-javascript.ts';

export function prepare(cleanup: Cleanup, width: number): Promise<Contest> {
  return replaceContest(cleanup, width, (path) => (bytes) => replaceByHand(path, bytes));
}
