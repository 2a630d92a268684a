import { describe, expect, it } from 'vitest';
import { isFullRefName, parseBranchName, parseCommitOid } from '../../src/git/values.ts';

const oid = 'f8f41e3805b1ab4b6d7b4c5a3a1fe12a7fa17d14';

describe('commit object names', () => {
  it('R20: are taken whole and in lower case', () => {
    expect(parseCommitOid(oid)).toBe(oid);
    expect(parseCommitOid(oid.toUpperCase())).toBe(oid);
    expect(parseCommitOid('0'.repeat(64))).toBe('0'.repeat(64));
  });

  it.each([
    '',
    'f8f41e38',
    `${oid}0`,
    `${oid.slice(1)}g`,
    'HEAD',
    'HEAD~1',
    `${oid}^{tree}`,
    `${oid}\n`,
    ` ${oid}`,
  ])('R20: refuses %j', (text) => {
    expect(parseCommitOid(text)).toBeNull();
  });
});

describe('branch names', () => {
  it.each(['main', 'feat/x', 'a', 'v1.2', 'weiß/日本', 'HEAD', 'a@b', '#1', 'x{y}', 'a'.repeat(255)])(
    'R20: takes %j literally',
    (text) => {
      expect(parseBranchName(text)).toBe(text);
    },
  );

  it.each([
    '',
    '@',
    '-x',
    '--all',
    '/x',
    'x/',
    'x.',
    'a..b',
    'a//b',
    'a@{1}',
    '.a',
    'a/.b',
    'a.lock',
    'a.lock/b',
    'a b',
    'a\tb',
    'a\u00a0b',
    'a\u2003b',
    'a~1',
    'a^',
    'a:b',
    'a?',
    'a*',
    'a[b',
    'a]b',
    'a\\b',
    'a\x7f',
    'a\x00',
    'a\n',
    'a'.repeat(256),
    'ä'.repeat(128),
    'a\ud800',
  ])('R20: refuses %j', (text) => {
    expect(parseBranchName(text)).toBeNull();
  });
});

describe('full ref names', () => {
  it.each(['refs/heads/main', 'refs/heads/a]b', 'refs/remotes/origin/HEAD', 'refs/x', 'refs/heads/\xc3\xa4'])(
    'accepts %j',
    (ref) => {
      expect(isFullRefName(ref)).toBe(true);
    },
  );

  it.each([
    'main',
    'refs/',
    'refs',
    '/refs/heads/x',
    'refs/heads/',
    'refs/../x',
    'refs/heads/.x',
    'refs/heads/x.lock',
  ])('refuses %j', (ref) => {
    expect(isFullRefName(ref)).toBe(false);
  });
});
