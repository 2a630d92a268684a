import { chmod, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ListedEntry } from '../../src/files/workspace-files.ts';
import { beneath, openWorkspace, outcomeOf, text, type Workspace } from '../support/files-workspace.ts';

const tree = [
  'dir/inner: x',
  'file: 12345',
  'fifo |',
  'in -> file',
  'in-dir -> dir',
  'absolute-in -> $ROOT/file',
  'out -> $OUT/secret',
  'out-dir -> $OUT',
  'broken -> nothing',
  'loop -> loop',
  'magic -> /proc/self/root',
];

async function all(workspace: Workspace, limit: number): Promise<readonly ListedEntry[]> {
  const entries: ListedEntry[] = [];
  let cursor: string | null = null;
  do {
    const page: { entries: readonly ListedEntry[]; cursor: string | null } = await workspace.files.list(
      workspace.capability,
      null,
      { limit, ...(cursor === null ? {} : { cursor }) },
    );
    expect(page.entries.length).toBeLessThanOrEqual(limit);
    entries.push(...page.entries);
    cursor = page.cursor;
  } while (cursor !== null);
  return entries;
}

describe('listing', () => {
  it('R11: names what each entry is, and where a link leads without following it', async () => {
    const { files, capability } = await openWorkspace({ tree, outside: ['secret: SECRET'] });
    const { entries } = await files.list(capability, null);
    expect(entries.map(({ name, type, linkTarget }) => [name, type, linkTarget])).toEqual([
      ['absolute-in', 'symlink', 'inside'],
      ['broken', 'symlink', 'broken'],
      ['dir', 'directory', null],
      ['fifo', 'other', null],
      ['file', 'file', null],
      ['in', 'symlink', 'inside'],
      ['in-dir', 'symlink', 'inside'],
      ['loop', 'symlink', 'broken'],
      ['magic', 'symlink', 'outside'],
      ['out', 'symlink', 'outside'],
      ['out-dir', 'symlink', 'outside'],
    ]);
  });

  it('gives size, time and whether a file is a program', async () => {
    const { files, capability, root } = await openWorkspace({ tree: ['file: 12345', 'tool: #!'] });
    await chmod(join(root, 'tool'), 0o744);
    await utimes(join(root, 'file'), 1_700_000_000, 1_700_000_000);
    const { entries } = await files.list(capability, null);
    expect(entries).toMatchObject([
      { name: 'file', size: 5, modifiedMs: 1_700_000_000_000, executable: false, undecodable: false },
      { name: 'tool', size: 2, executable: true },
    ]);
  });

  it.each([
    ['a directory', 'dir', 'ok'],
    ['a link to a directory inside', 'in-dir', 'ok'],
    ['a directory outside (file-symlink-dir-list)', 'out-dir', 'path_outside_workspace'],
    ['a magic link', 'magic', 'path_outside_workspace'],
    ['a file', 'file', 'not_directory'],
    ['a link to a file', 'in', 'not_directory'],
    ['a FIFO', 'fifo', 'not_directory'],
    ['nothing', 'nothing', 'not_found'],
    ['a path through a file', 'file/x', 'not_found'],
    ['a broken link', 'broken', 'not_found'],
    ['a loop', 'loop', 'not_found'],
  ])('R10, R11: %s', async (_, path, code) => {
    const { files, capability } = await openWorkspace({ tree, outside: ['secret: SECRET'] });
    expect(await outcomeOf(files.list(capability, beneath(path)))).toBe(code);
  });

  it('R10: an undecodable name is shown but carries no name, and the listing goes on after it', async () => {
    const workspace = await openWorkspace({ tree: ['a: 1', 'z: 2'] });
    const raw = (tail: readonly number[]) =>
      Buffer.concat([Buffer.from(`${workspace.root}/m`), Buffer.from(tail)]);
    await writeFile(raw([0xff]), 'x');
    await symlink('a', raw([0xfe, 0xfe]));
    for (const limit of [1, 2, 10]) {
      expect((await all(workspace, limit)).map(({ name, undecodable }) => [name, undecodable])).toEqual([
        ['a', false],
        [null, true],
        [null, true],
        ['z', false],
      ]);
    }
  });

  it('R11: a link whose canonical target is undecodable is read all the same', async () => {
    const { files, capability, root } = await openWorkspace();
    const target = Buffer.concat([Buffer.from(`${root}/t`), Buffer.of(0xff)]);
    await writeFile(target, 'reached');
    await symlink(target, join(root, 'l'));
    const { bytes } = await files.read(capability, beneath('l'));
    expect(`${Buffer.from(bytes)}`).toBe('reached');
  });
});

describe('pages', () => {
  const names = ['B', 'a', 'aa', 'b', 'ä', '日本', '\ufffd', '😀'];

  it.each([1, 2, 3, 7, 100])('are sorted by bytes and lose and repeat nothing: %d at once', async (limit) => {
    const workspace = await openWorkspace({ tree: names });
    const expected = [...names].sort((left, right) => Buffer.compare(Buffer.from(left), Buffer.from(right)));
    expect((await all(workspace, limit)).map(({ name }) => name)).toEqual(expected);
  });

  it('stay right while entries come and go', async () => {
    const { files, capability } = await openWorkspace({ tree: ['a', 'b', 'c', 'd'] });
    const first = await files.list(capability, null, { limit: 2 });
    await files.remove(capability, beneath('b'), { etag: (await files.read(capability, beneath('b'))).etag });
    await files.create(capability, beneath('bb'), text('x'));
    const rest = await files.list(capability, null, { limit: 10, cursor: first.cursor ?? '' });
    expect(rest.entries.map(({ name }) => name)).toEqual(['bb', 'c', 'd']);
  });

  it('are never empty before the end, even where much is left out', async () => {
    const hidden = Array.from({ length: 9 }, (_, index) => `.wa-${String(index).repeat(32)}.x.tmp`);
    const workspace = await openWorkspace({ tree: [...hidden, 'z'] });
    const page = await workspace.files.list(workspace.capability, null, { limit: 2 });
    expect([page.entries.map(({ name }) => name), page.cursor]).toEqual([['z'], null]);
  });

  it.each([0, -1, 1.5, 10_001, Number.NaN, Number.POSITIVE_INFINITY])(
    'have a limit, which %s is not',
    async (limit) => {
      const { files, capability } = await openWorkspace();
      expect(await outcomeOf(files.list(capability, null, { limit }))).toBe('invalid_request');
    },
  );

  it.each(['', '!', 'YQ==', 'Yi8', '../x'])('are not asked for by %j', async (cursor) => {
    const { files, capability } = await openWorkspace();
    expect(await outcomeOf(files.list(capability, null, { cursor }))).toBe('invalid_request');
  });

  it('hold ten thousand entries at once', async () => {
    const count = 10_000;
    const workspace = await openWorkspace();
    for (let start = 0; start < count; start += 1000) {
      const chunk = Array.from({ length: 1000 }, (_, index) => join(workspace.root, `f${start + index}`));
      await Promise.all(chunk.map((path) => writeFile(path, '')));
    }
    const page = await workspace.files.list(workspace.capability, null, { limit: count });
    expect([page.entries.length, page.cursor]).toEqual([count, null]);
  });
});
