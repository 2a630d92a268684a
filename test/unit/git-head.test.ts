import { describe, expect, it } from 'vitest';
import { parseHead, shortNameBelow } from '../../src/git/head.ts';

const oid = 'f8f41e3805b1ab4b6d7b4c5a3a1fe12a7fa17d14';

describe('HEAD', () => {
  it('is a full ref or a full object name, and one newline', () => {
    expect(parseHead(Buffer.from('ref: refs/heads/main\n'))).toEqual({
      kind: 'symbolic',
      ref: 'refs/heads/main',
    });
    expect(parseHead(Buffer.from(`${oid}\n`))).toEqual({ kind: 'detached', oid });
    expect(parseHead(Buffer.from(`${'0'.repeat(64)}\n`))?.kind).toBe('detached');
  });

  it.each([
    '',
    '\n',
    'garbage\n',
    'ref: refs/heads/main',
    'ref: refs/heads/main\n\n',
    'ref: refs/heads/main \n',
    'ref:refs/heads/main\n',
    'ref: refs/heads/main\r\n',
    'ref: main\n',
    'ref: refs/../../etc/passwd\n',
    'ref: refs/heads/a b\n',
    'ref: refs/heads/x\0y\n',
    `${oid.toUpperCase()}\n`,
    `${oid.slice(1)}\n`,
    `${oid}0\n`,
    `${oid} \n`,
  ])('R04: %j is not read as anything', (text) => {
    expect(parseHead(Buffer.from(text))).toBeNull();
  });

  it('W39: short names come from the full ref, whatever tags there are', () => {
    expect(shortNameBelow('refs/heads/', 'refs/heads/heads/foo')).toBe('heads/foo');
    expect(shortNameBelow('refs/heads/', 'refs/tags/foo')).toBeNull();
  });

  it('a ref that is not UTF-8 has no name rather than a wrong one', () => {
    const head = parseHead(Buffer.from('ref: refs/heads/\xff\n', 'latin1'));
    expect(head).toEqual({ kind: 'symbolic', ref: 'refs/heads/\xff' });
    expect(shortNameBelow('refs/heads/', 'refs/heads/\xff')).toBeNull();
    expect(shortNameBelow('refs/heads/', Buffer.from('refs/heads/日本').toString('latin1'))).toBe('日本');
  });
});
