import { describe, expect, it } from 'vitest';
import {
  isFullRefName,
  parseBranchName,
  parseCommitMessage,
  parseCommitOid,
  parseLiteralPath,
  parseRefName,
  parseRemoteName,
} from '../../src/git/values.ts';

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

describe('ref names', () => {
  it.each(['refs/heads/main', 'refs/heads/-x', 'refs/tags/wei\u00df'])('R20: takes %j', (text) => {
    expect(parseRefName(text)).toBe(text);
  });

  it.each(['HEAD', 'main', '-x', 'refs/heads/a..b', 'refs/heads/a\ud800', 'refs/heads/x^{}'])(
    'R20: refuses %j',
    (text) => expect(parseRefName(text)).toBeNull(),
  );
});

describe('remote names', () => {
  it.each(['origin', 'up-stream', 'a.b', '日本'])('R20: takes %j', (text) => {
    expect(parseRemoteName(text)).toBe(text);
  });

  it.each([
    '',
    '.',
    '..',
    '-x',
    '--upload-pack=x',
    'a/b',
    '/srv/x',
    '../x',
    'ext::sh -c x',
    'https://host/x',
    'host:x',
    'a b',
    'a*',
    'x.lock',
    'a\n',
  ])('R20: refuses %j', (text) => {
    expect(parseRemoteName(text)).toBeNull();
  });
});

describe('literal paths', () => {
  it.each([':(top)x', ':!x', '*.json', '-x', '--', 'a:b', ' a ', 'a\nb', '[x]'])(
    'R20: takes %j by letter',
    (text) => {
      expect(parseLiteralPath(text)).toBe(text);
    },
  );

  it.each([
    ['', 'invalid_path'],
    ['/x', 'path_outside_workspace'],
    ['../x', 'path_outside_workspace'],
    ['a/../b', 'invalid_path'],
    ['a//b', 'invalid_path'],
    ['./a', 'invalid_path'],
    ['a\0b', 'invalid_path'],
    ['a\ud800', 'invalid_path'],
  ])('R10, R20: refuses %j as %s', (text, code) => {
    expect(() => parseLiteralPath(text)).toThrow(expect.objectContaining({ code }));
  });
});

describe('commit messages', () => {
  it.each(['x', '-x', '#x', 'a\n\nb\r\n', 'x'.repeat(1024 * 1024)])('are taken whole: %#', (text) => {
    expect(parseCommitMessage(text)).toBe(text);
  });

  it.each(['', ' \n\t', 'a\0b', 'a\ud800', 'ä'.repeat(512 * 1024 + 1)])('are refused: %#', (text) => {
    expect(parseCommitMessage(text)).toBeNull();
  });
});
