import type { Cleanup } from '../harness/cleanup.ts';
import type { Contest } from '../harness/trial.ts';
import { readBehindJavascriptGuard } from '../sides/guard-in-javascript.ts';
import { readContest } from '../sides/read-contest.ts';

export function prepare(cleanup: Cleanup, depth: number, width: number): Promise<Contest> {
  return readContest(cleanup, {
    depth,
    size: 4096,
    width,
    theirs:
      ({ workspace }) =>
      (target) =>
        readBehindJavascriptGuard(workspace.root, target.relativePath, 1024 * 1024),
  });
}
