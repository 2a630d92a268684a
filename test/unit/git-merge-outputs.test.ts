import { describe, expect, it } from 'vitest';
import { parseMergeTree } from '../../src/git/merge-plan.ts';
import { parseNameChanges } from '../../src/git/occupied-paths.ts';

const tree = 'a'.repeat(40);

describe('what `git merge-tree` prints', () => {
  it.each([
    ['a tree', 0, `${tree}\0`, { kind: 'merge', tree }],
    ['a tree of the other format', 0, `${'b'.repeat(64)}\0`, { kind: 'merge', tree: 'b'.repeat(64) }],
    ['conflicts', 1, `${tree}\0a\0b\nc\0`, { kind: 'conflict', tree, paths: ['a', 'b\nc'] }],
    ['conflicts of no one file', 1, `${tree}\0`, { kind: 'conflict', tree, paths: [] }],
    ['nothing', 0, '', null],
    ['a tree without its end', 0, tree, null],
    ['a name cut off', 1, `${tree}\0a`, null],
    ['an abbreviated tree', 0, `${tree.slice(1)}\0`, null],
    ['names though all is well', 0, `${tree}\0a\0`, null],
    ['an empty name', 1, `${tree}\0\0a\0`, null],
  ])('R22: %s', (_, exitCode, text, plan) => {
    expect(parseMergeTree({ exitCode, stdout: Buffer.from(text) })).toEqual(plan);
  });
});

describe('what `git diff-tree --name-status` prints', () => {
  it.each([
    ['nothing', '', { added: [], removed: new Set() }],
    ['both kinds', 'A\0a\0D\0b\0', { added: ['a'], removed: new Set(['b']) }],
    ['a name like a letter', 'A\0D\0', { added: ['D'], removed: new Set() }],
    ['another kind', 'M\0a\0', null],
    ['a name cut off', 'A\0a', null],
    ['a letter alone', 'A\0', null],
  ])('R22: %s', (_, text, changes) => {
    expect(parseNameChanges(Buffer.from(text))).toEqual(changes);
  });
});
