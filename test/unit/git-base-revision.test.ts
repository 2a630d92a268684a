import { describe, expect, it } from 'vitest';
import { parseBaseRevision } from '../../src/git/base-revision.ts';
import { parseTracking } from '../../src/git/divergence.ts';

const oid = '0123456789abcdef0123456789abcdef01234567';

describe('the name of a base', () => {
  it.each([
    ['main', ['refs/remotes/origin/main', 'refs/heads/main'], 'main'],
    ['feat/x', ['refs/remotes/origin/feat/x', 'refs/heads/feat/x'], 'feat/x'],
    ['refs/heads/main', ['refs/heads/main'], 'main'],
    ['refs/heads/origin/main', ['refs/heads/origin/main'], 'origin/main'],
    ['refs/remotes/origin/main', ['refs/remotes/origin/main'], 'origin/main'],
    [
      'origin/main',
      ['refs/remotes/origin/main', 'refs/remotes/origin/origin/main', 'refs/heads/origin/main'],
      'origin/main',
    ],
  ])('W40: %j is looked for in a fixed order', (text, candidates, label) => {
    expect(parseBaseRevision(text)).toEqual({ kind: 'refs', candidates, label });
  });

  it.each([oid, oid.toUpperCase(), '0'.repeat(64)])('R20: %j is an object name, never a branch', (text) => {
    const lower = text.toLowerCase();
    expect(parseBaseRevision(text)).toEqual({ kind: 'commit', oid: lower, label: lower });
  });

  it.each([
    '',
    'HEAD',
    '@',
    '-x',
    '--all',
    'origin/',
    'origin/-x/..',
    'origin//x',
    'refs/heads/-x',
    'refs/remotes/origin/',
    'refs/remotes/other/x',
    'refs/tags/v1',
    'refs/stash',
    'a..b',
    'a^',
    'a~1',
    'a:b',
    'a@{1}',
    ':/a',
    'a b',
    'a\nb',
    'a\0b',
    'a.lock',
    '\ud800',
  ])('R20: %j is none', (text) => {
    expect(parseBaseRevision(text)).toBeNull();
  });
});

describe('how a branch stands to its upstream', () => {
  it.each([
    ['', { ahead: 0, behind: 0 }],
    ['ahead 3', { ahead: 3, behind: 0 }],
    ['behind 12', { ahead: 0, behind: 12 }],
    ['ahead 3, behind 12', { ahead: 3, behind: 12 }],
    ['gone', null],
    ['[ahead 3]', null],
    ['ahead 3behind 4', null],
    [', behind 4', null],
    ['ahead x', null],
  ])('reads %j', (text, divergence) => {
    expect(parseTracking(text)).toEqual(divergence);
  });
});
