import { describe, expect, it } from 'vitest';
import { sumNumstat } from '../../src/git/numstat-records.ts';
import { parseForgeIdentity, shownRemoteAddress } from '../../src/git/remote-address.ts';
import { countStatus } from '../../src/git/status-counts.ts';

const changed = '1 .M N... 100644 100644 100644 1 1';
const unmerged = 'u UU N... 100644 100644 100644 100644 1 1 1';
const bytes = (...records: readonly string[]) => Buffer.from(records.map((text) => `${text}\0`).join(''));

describe('the records that a snapshot is made of', () => {
  it.each([
    ['nothing', [], {}],
    ['headers', ['# branch.oid (initial)', '# branch.head main'], {}],
    [
      'each kind',
      [`${changed} a`, `${unmerged} b`, '? c', '? d', '! e', '! f g/'],
      { tracked: 2, unmerged: 1, untracked: 2, ignoredDirectories: ['f g'] },
    ],
    ['names with newlines', [`${changed} a\n? b`, '? c\n1 d'], { tracked: 1, untracked: 1 }],
    [
      'repositories inside',
      ['? a', '? b/', '? c/d/', '! e/'],
      { untracked: 3, repositories: 2, ignoredDirectories: ['e'] },
    ],
  ])('R04: counts %s', (_, records, counts) => {
    const none = { tracked: 0, unmerged: 0, untracked: 0, repositories: 0, ignoredDirectories: [] };
    expect(countStatus(bytes(...records))).toEqual({ ...none, ...counts });
  });

  it.each(['? a', 'x\0', '3 a\0', '2 R. a\0', '\0', 'fatal: no\n'])(
    'R04: %j is no status, so not clean',
    (text) => {
      expect(countStatus(Buffer.from(text))).toBeNull();
    },
  );

  it.each([
    ['nothing', [], { additions: 0, deletions: 0, files: 0 }],
    ['files', ['3\t1\ta', '0\t4\tb\tc\n'], { additions: 3, deletions: 5, files: 2 }],
    ['a binary file', ['-\t-\ta', '1\t0\tb'], { additions: 1, deletions: 0, files: 2 }],
  ])('R04: adds up %s', (_, records, sum) => {
    expect(sumNumstat(bytes(...records))).toEqual(sum);
  });

  it.each(['1\t1\ta', '1\t-\ta\0', '1\t1\t\0', 'a\0', '\0'])('R04: %j is no diff', (text) => {
    expect(sumNumstat(Buffer.from(text))).toBeNull();
  });
});

describe('the address of a remote', () => {
  const github = { host: 'github.com', owner: 'o', repo: 'r' };
  it.each([
    ['https://github.com/o/r', github],
    ['https://github.com/o/r.git', github],
    ['https://GitHub.com/o/r/', github],
    ['https://user:secret@github.com/o/r.git', github],
    ['http://github.com/o/r', github],
    ['git://github.com/o/r.git', github],
    ['ssh://git@github.com/o/r.git', github],
    ['ssh://git@ssh.github.com:443/o/r.git', github],
    ['git@github.com:o/r.git', github],
    ['github.com:o/r', github],
    ['git@github.com:/o/r', github],
    [
      'https://forge.example:8443/Own-er/re.po.git',
      { host: 'forge.example', owner: 'Own-er', repo: 're.po' },
    ],
  ])('R21: %s tells the repository', (address, identity) => {
    expect(parseForgeIdentity(address)).toEqual(identity);
  });

  it.each([
    '',
    '/srv/o/r.git',
    './o/r',
    '../o/r',
    'file:///o/r',
    'https://github.com/o',
    'https://github.com/o/r/s',
    'https://github.com//r',
    'https://github.com/o/r?x=1',
    'https://github.com/o/r#x',
    'https://github.com/o/%2e%2e',
    'https://github.com/o/.git',
    'https://github.com/-o/r',
    'ext::sh -c x',
    'ftp://github.com/o/r',
    'git@github.com:o/r/s',
    'git@github.com:o/r\nx',
    '-oProxyCommand=x:o/r',
    `https://github.com/o/${'r'.repeat(3000)}`,
  ])('R21: %j tells none', (address) => {
    expect(parseForgeIdentity(address)).toBeNull();
  });

  it.each([
    ['https://user:secret@github.com/o/r.git', 'https://github.com/o/r.git'],
    ['https://secret@github.com:8443/o/r?token=secret#secret', 'https://github.com:8443/o/r'],
    ['ssh://git@github.com:22/o/r', 'ssh://github.com:22/o/r'],
    ['git@github.com:o/r.git', 'github.com:o/r.git'],
    ['secret:x@github.com:o/r', null],
    ['/srv/a b', '/srv/a b'],
    ['/srv/a\nb', null],
    ['https://github.com/o/r x', null],
    ['/srv/o/r.git', '/srv/o/r.git'],
    ['../r', '../r'],
    ['file:///srv/o', 'file:///srv/o'],
    ['ext::sh', null],
    ['odd://user:secret@host/x', null],
    ['https://', null],
    ['', null],
  ])('R04: %j is shown as %j, without what may be a secret', (address, shown) => {
    expect(shownRemoteAddress(address)).toBe(shown);
  });
});
