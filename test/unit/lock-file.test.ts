import { describe, expect, it } from 'vitest';
import { findStandingLock } from '../../src/git/lock-file.ts';

const environment = { GIT_DIR: '/proc/9/fd/21' };
const exists = (path: string) => `Unable to create '${path}': File exists.\n\nAnother git process seems\n`;

describe('the lock that a command could not take', () => {
  it.each([
    ['an index', `fatal: ${exists('/proc/9/fd/21/index.lock')}`, 'index.lock', 'git dir'],
    ['HEAD', `fatal: cannot lock ref 'HEAD': ${exists('/proc/9/fd/21/HEAD.lock')}`, 'HEAD.lock', 'git dir'],
    [
      "a ref whose name holds a quote and `refs'",
      `fatal: cannot lock ref 'refs/heads/it's/refs/x': ${exists("/srv/refs/a/.git/refs/heads/it's/refs/x.lock")}`,
      "refs/heads/it's/refs/x.lock",
      'common dir',
    ],
    ['all packed refs', `fatal: ${exists('/srv/a/.git/packed-refs.lock')}`, 'packed-refs.lock', 'common dir'],
  ])('R22: %s', (_, said, remove, below) => {
    expect(findStandingLock({ environment }, said)).toMatchObject({ remove, below });
  });

  it.each([
    ['nothing', ''],
    ['a file outside', `fatal: ${exists('/proc/9/fd/2/index.lock')}`],
    ['another ref', `fatal: cannot lock ref 'refs/heads/a': ${exists('/srv/.git/refs/heads/b.lock')}`],
    ['no lock', `fatal: ${exists('/proc/9/fd/21/index')}`],
  ])('R22: none is named by %s', (_, said) => {
    expect(findStandingLock({ environment }, said)).toBeNull();
  });
});
