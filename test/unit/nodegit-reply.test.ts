import { describe, expect, it } from 'vitest';
import { parseNodegitReply } from '../../src/proof/nodegit-reply.ts';

const place = { path: '/r/', device: '1', inode: '2' };
const seen = { bare: 0, worktree: 0, workTree: place, gitDirectory: place, commonDirectory: place };

describe('what the nodegit child says', () => {
  it('is read by shape', () => {
    expect(parseNodegitReply({ ready: true })).toEqual({ kind: 'ready' });
    expect(parseNodegitReply({ id: 1, refused: -36 })).toEqual({ kind: 'refused', id: 1, libgit2Error: -36 });
    expect(parseNodegitReply({ id: 1, seen: { ...seen, workTree: null } })).toMatchObject({
      kind: 'seen',
      seen: { bare: false, linked: false, workTree: null, gitDirectory: { inode: 2n } },
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
  ])('R04: garbled: %s', (_, message) => {
    expect(parseNodegitReply(message)).toBeNull();
  });
});
