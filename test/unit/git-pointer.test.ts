import { describe, expect, it } from 'vitest';
import { parseGitPointer, parsePathLine } from '../../src/proof/git-pointer.ts';

const root = '/home/w/tree';

function pointer(text: string): unknown {
  return parseGitPointer(Buffer.from(text), root);
}

describe('the file .git', () => {
  it.each<readonly [string, unknown]>([
    ['/r/.git/worktrees/w', { kind: 'worktree', mainRoot: '/r', name: 'w' }],
    ['../../r/.git/worktrees/w', { kind: 'worktree', mainRoot: '/home/r', name: 'w' }],
    ['/r/näïve 日本/.git/worktrees/a b', { kind: 'worktree', mainRoot: '/r/näïve 日本', name: 'a b' }],
    ['/r/.git/worktrees/-dash', { kind: 'worktree', mainRoot: '/r', name: '-dash' }],
    ['/r/.git/worktrees/worktrees', { kind: 'worktree', mainRoot: '/r', name: 'worktrees' }],
    [
      '/r/.git/worktrees/a/.git/worktrees/b',
      { kind: 'worktree', mainRoot: '/r/.git/worktrees/a', name: 'b' },
    ],
    // A second space begins a relative path, as for Git.
    [' /r/.git/worktrees/w', { kind: 'worktree', mainRoot: `${root}/ /r`, name: 'w' }],
    ['/r/bare.git/worktrees/w', { kind: 'other-worktree' }],
    ['/r/.git/modules/m/worktrees/w', { kind: 'other-worktree' }],
    ['/worktrees/w', { kind: 'other-worktree' }],
    // The root of the file system is no main checkout.
    ['/.git/worktrees/w', { kind: 'other-worktree' }],
    ['/r/.git/modules/m', { kind: 'submodule' }],
    ['../.git/modules/m', { kind: 'submodule' }],
    ['/r/separate', { kind: 'separate-git-dir', gitDirectory: '/r/separate' }],
    ['../separate', { kind: 'separate-git-dir', gitDirectory: '/home/w/separate' }],
    ['/r/.git', { kind: 'separate-git-dir', gitDirectory: '/r/.git' }],
    ['/r/.git/worktrees', { kind: 'separate-git-dir', gitDirectory: '/r/.git/worktrees' }],
    ['/r/.git/worktrees/w/deeper', { kind: 'separate-git-dir', gitDirectory: '/r/.git/worktrees/w/deeper' }],
  ])('R31: says whom to ask: gitdir: %s', (target, expected) => {
    expect(pointer(`gitdir: ${target}\n`)).toEqual(expected);
  });

  const path = '/r/.git/worktrees/w';
  it.each<readonly [string, string | Uint8Array]>([
    ['nothing', ''],
    ['a newline', '\n'],
    ['no path', 'gitdir: \n'],
    ['the root of the file system', 'gitdir: /\n'],
    ['a relative way to the root of the file system', 'gitdir: ../../..\n'],
    ['no newline', `gitdir: ${path}`],
    ['two newlines', `gitdir: ${path}\n\n`],
    ['a second line', `gitdir: ${path}\nmore\n`],
    ['a carriage return', `gitdir: ${path}\r\n`],
    ['no space after the colon', `gitdir:${path}\n`],
    ['capitals', `Gitdir: ${path}\n`],
    ['a byte order mark', `\ufeffgitdir: ${path}\n`],
    ['a space before', ` gitdir: ${path}\n`],
    ['a space at the end', `gitdir: ${path} \n`],
    ['a slash at the end', `gitdir: ${path}/\n`],
    ['two slashes', `gitdir: /r//.git/worktrees/w\n`],
    ['two slashes at the start', `gitdir: /${path}\n`],
    ['a component .', `gitdir: /r/./.git/worktrees/w\n`],
    ['a component ..', `gitdir: /r/x/../.git/worktrees/w\n`],
    ['a relative path that starts with .', 'gitdir: ./x\n'],
    ['NUL', `gitdir: ${path}\0\n`],
    ['NUL and another path', `gitdir: ${path}\0/x\n`],
    ['a tab', `gitdir: ${path}\t\n`],
    ['an escape', `gitdir: ${path}\x1b[1m\n`],
    ['U+FFFD', `gitdir: ${path}\ufffd\n`],
    ['a byte that is no UTF-8', Buffer.from(`gitdir: ${path}\xff\n`, 'latin1')],
    ['an overlong slash', Buffer.concat([Buffer.from('gitdir: /r'), Buffer.from([0xc0, 0xaf, 0x0a])])],
    [
      'a surrogate in UTF-8',
      Buffer.concat([Buffer.from('gitdir: /r'), Buffer.from([0xed, 0xa0, 0x80, 0x0a])]),
    ],
  ])('R34: with %s says nothing', (_, content) => {
    expect(parseGitPointer(Buffer.from(content), root)).toBeNull();
  });
});

describe('the line of a path', () => {
  it('R31: a relative path starts where its file lies', () => {
    const line = (text: string) => parsePathLine(Buffer.from(`${text}\n`), '', '/r/.git/worktrees/w');
    expect([line('../..'), line('../../../../w/.git'), line('/w/.git'), line('x')]).toEqual([
      '/r/.git',
      '/w/.git',
      '/w/.git',
      '/r/.git/worktrees/w/x',
    ]);
  });

  it('R34: two files with different bytes never say the same path', () => {
    const spellings = ['/r/a', '/r/a/', '/r//a', '/r/./a', '/r/b/../a', '/r/a ', '/r/a\0', '/r/a\r'];
    const said = spellings.map((text) => parsePathLine(Buffer.from(`${text}\n`), '', '/'));
    expect(said.filter((path) => path !== null)).toEqual(['/r/a']);
  });
});
