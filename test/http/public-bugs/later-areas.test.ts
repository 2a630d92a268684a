import { expect, it } from 'vitest';
import bugs from '../../cases/public-bugs.json' with { type: 'json' };

/** Areas of the public bugs, and what the rows of those not run in this folder wait for. */
const areas: Readonly<Record<string, string>> = {
  selector: 'selector.test.ts',
  files: 'files.test.ts',
  write: 'write.test.ts',
  http: 'http.test.ts',
  'git-args': 'git-args.test.ts',
  worktree: 'worktree.test.ts',
  pr: 'the forge is not asked yet',
  'session-guard': 'session-guard.test.ts',
};

it('every area of the public bugs is run in this folder, or waits for a feature', () => {
  expect([...new Set(bugs.map((row) => row.area))].sort()).toEqual(Object.keys(areas).sort());
});
