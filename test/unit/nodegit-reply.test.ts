import { describe, expect, it } from 'vitest';
import { parseNodegitReply } from '../../src/proof/nodegit-reply.ts';

const place = { path: '/r/', device: '1', inode: '2' };
const row = { path: '/w', valid: true, commonDirectory: place };
const seen = {
  bare: 0,
  worktree: 0,
  workTree: place,
  gitDirectory: place,
  commonDirectory: place,
  row: null,
};

describe('what the nodegit child says', () => {
  it('is read by shape', () => {
    expect(parseNodegitReply({ ready: true })).toEqual({ kind: 'ready' });
    expect(parseNodegitReply({ id: 1, refused: -36 })).toEqual({ kind: 'refused', id: 1, libgit2Error: -36 });
    expect(parseNodegitReply({ id: 1, seen: { ...seen, workTree: null } })).toMatchObject({
      kind: 'seen',
      seen: { bare: false, linked: false, workTree: null, gitDirectory: { inode: 2n }, row: null },
    });
    expect(parseNodegitReply({ id: 1, seen: { ...seen, worktree: 1, row } })).toMatchObject({
      kind: 'seen',
      seen: { linked: true, row: { ...row, commonDirectory: { path: '/r/', device: 1n, inode: 2n } } },
    });
  });

  it.each<readonly [string, unknown]>([
    ['nothing', null],
    ['text', 'ready'],
    ['ready with another value', { ready: 1 }],
    ['no id', { seen }],
    ['neither answer', { id: 1 }],
    ['a flag that is no flag', { id: 1, seen: { ...seen, bare: 2 } }],
    ['a flag left out', { id: 1, seen: { ...seen, worktree: undefined } }],
    ['a directory left out', { id: 1, seen: { ...seen, gitDirectory: undefined } }],
    ['a number that is no text', { id: 1, seen: { ...seen, workTree: { ...place, inode: 2 } } }],
    ['a number that is none', { id: 1, seen: { ...seen, workTree: { ...place, inode: '-2' } } }],
    ['a path that is no text', { id: 1, seen: { ...seen, workTree: { ...place, path: ['/r/'] } } }],
    ['a row left out', { id: 1, seen: { ...seen, row: undefined } }],
    ['a row that is text', { id: 1, seen: { ...seen, row: '/w' } }],
    ['a list of rows', { id: 1, seen: { ...seen, row: [row] } }],
    ['a row without a path', { id: 1, seen: { ...seen, row: { ...row, path: undefined } } }],
    ['a row whose path is no text', { id: 1, seen: { ...seen, row: { ...row, path: 1 } } }],
    ['a row that is valid by number', { id: 1, seen: { ...seen, row: { ...row, valid: 0 } } }],
    ['a row of no list', { id: 1, seen: { ...seen, row: { ...row, commonDirectory: undefined } } }],
    ['a row of a list that is text', { id: 1, seen: { ...seen, row: { ...row, commonDirectory: '/r/' } } }],
    ['a row that does not say', { id: 1, seen: { ...seen, row: { ...row, valid: undefined } } }],
  ])('R04: garbled: %s', (_, message) => {
    expect(parseNodegitReply(message)).toBeNull();
  });
});
