import { createHash } from 'node:crypto';
import { utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { beneath, openWorkspace, outcomeOf, refusalOf, text } from '../support/files-workspace.ts';

/** What a path of the tree is read as: its content after `=`, or the refusal. */
type Row = readonly [what: string, path: string, expected: string];

const reserved = `.wa-${'0'.repeat(32)}.x.tmp`;
const tree = [
  'f: plain',
  'a/b/c/t: nested',
  '..notes: dots',
  'sub/',
  'empty: ',
  'fifo |',
  'socket =',
  'in -> f',
  'a/up -> ../f',
  'dir-in -> a/b',
  'chain1 -> chain2',
  'chain2 -> in',
  'absolute-in -> $ROOT/f',
  'absolute-dir -> $ROOT/a',
  'through-outside -> ../root/f',
  'out -> $OUT/secret',
  'out-relative -> ../outside/secret',
  'dir-out -> $OUT',
  'dangling-in -> nothing',
  'dangling-out -> $OUT/nothing',
  'loop -> loop',
  'loop1 -> loop2',
  'loop2 -> loop1',
  'proc -> /proc/self/root/etc/hostname',
  'magic -> /proc/self/cwd',
  'to-fifo -> fifo',
  'to-directory -> sub',
  '.git/config: [core]',
  'git-link -> .git/config',
  'git-link-absolute -> $ROOT/.git/config',
  'git-directory-link -> .git',
  'a/to-git -> ../git-link',
  `${reserved}: half`,
  `reserved-link -> ${reserved}`,
];

const rows: readonly Row[] = [
  ['a file', 'f', '=plain'],
  ['a nested file', 'a/b/c/t', '=nested'],
  ['an empty file', 'empty', '='],
  ['a name that begins with two dots (file-dotdot-prefixed-name)', '..notes', '=dots'],
  ['a link inside (file-symlink-inside)', 'in', '=plain'],
  ['a link upwards that stays inside', 'a/up', '=plain'],
  ['a directory link inside', 'dir-in/c/t', '=nested'],
  ['a chain of links', 'chain1', '=plain'],
  ['an absolute link to the inside', 'absolute-in', '=plain'],
  ['an absolute directory link to the inside', 'absolute-dir/b/c/t', '=nested'],
  ['links on links', 'absolute-dir/up', '=plain'],
  ['a link that leaves the root and comes back', 'through-outside', 'path_outside_workspace'],
  ['an absolute link outside (file-symlink-absolute)', 'out', 'path_outside_workspace'],
  ['a relative link outside', 'out-relative', 'path_outside_workspace'],
  ['a directory link outside', 'dir-out/secret', 'path_outside_workspace'],
  ['a missing file behind a link outside', 'dir-out/nothing', 'path_outside_workspace'],
  ['a dangling link to the outside', 'dangling-out', 'path_outside_workspace'],
  ['a dangling link inside', 'dangling-in', 'not_found'],
  ['a link to itself', 'loop', 'not_found'],
  ['two links to each other', 'loop1', 'not_found'],
  ['a path below a loop', 'loop2/x', 'not_found'],
  ['a link through /proc', 'proc', 'path_outside_workspace'],
  ['a magic link (file-magic-link)', 'magic/f', 'path_outside_workspace'],
  ['a link into .git', 'git-link', 'administrative_path'],
  ['an absolute link into .git', 'git-link-absolute', 'administrative_path'],
  ['a path through a link to .git', 'git-directory-link/config', 'administrative_path'],
  ['a link to a link into .git', 'a/to-git', 'administrative_path'],
  ['a link to what a running change owns', 'reserved-link', 'administrative_path'],
  ['nothing', 'nothing', 'not_found'],
  ['nothing in a missing directory', 'no/such/directory', 'not_found'],
  ['a file used as a directory', 'f/x', 'not_found'],
  ['a name that only looks encoded (file-double-encoding)', '%2e%2e', 'not_found'],
  ['a directory', 'sub', 'not_regular_file'],
  ['a directory link', 'to-directory', 'not_regular_file'],
  ['a FIFO (file-fifo, W45)', 'fifo', 'not_regular_file'],
  ['a FIFO behind a link', 'to-fifo', 'not_regular_file'],
  ['a socket', 'socket', 'not_regular_file'],
];

describe('reading', () => {
  it.each(rows)('R10, R11: %s', async (_, path, expected) => {
    const { files, capability } = await openWorkspace({ tree, outside: ['secret: SECRET'] });
    const read = async () => `=${Buffer.from((await files.read(capability, beneath(path))).bytes)}`;
    // Twice: the first opens everything cold, the second finds it in memory.
    for (const _round of ['cold', 'warm']) {
      expect(await read().catch((error) => error.code)).toBe(expected);
      const opened = files.open(capability, beneath(path)).then(async (file) => {
        const content = `=${Buffer.from(await file.readAt(0, 100))}`;
        file[Symbol.dispose]();
        return content;
      });
      expect(await opened.catch((error) => error.code)).toBe(expected);
    }
  });

  it('R13: gives the hashes, size, time and mode of what was read', async () => {
    const { files, capability, root } = await openWorkspace({ tree: ['f: hello'] });
    await writeFile(join(root, 'tool'), '#!/bin/sh\n', { mode: 0o755 });
    await utimes(join(root, 'f'), 1_700_000_000, 1_700_000_000);
    const reading = await files.read(capability, beneath('f'));
    const digest = createHash('sha256').update('hello').digest('base64url');
    expect({ sha1: reading.sha1, etag: reading.etag, size: reading.size }).toEqual({
      sha1: createHash('sha1').update('hello').digest('hex'),
      etag: `"sha256-${digest}"`,
      size: 5,
    });
    expect([reading.modifiedMs, reading.executable]).toEqual([1_700_000_000_000, false]);
    expect((await files.read(capability, beneath('tool'))).executable).toBe(true);
  });

  it.each([
    ['at the limit', 10, 10, 'ok'],
    ['one over', 11, 10, 'file_too_large'],
    ['far over', 5_000_000, 10, 'file_too_large'],
    ['the usual limit of 1 MiB', 1024 * 1024, undefined, 'ok'],
    ['over the usual limit', 1024 * 1024 + 1, undefined, 'file_too_large'],
  ])(
    'a file is refused over its limit, with its size, and not read: %s',
    async (_, size, limit, expected) => {
      const { files, capability, root } = await openWorkspace();
      await writeFile(join(root, 'f'), Buffer.alloc(size, 'x'));
      const read = () => files.read(capability, beneath('f'), limit === undefined ? {} : { limit });
      expect(await outcomeOf(read())).toBe(expected);
      if (expected !== 'ok') expect((await refusalOf(read())).details['size']).toBe(size);
    },
  );

  it('file-abs-path-leak: no refusal tells an absolute path', async () => {
    const { files, capability, root } = await openWorkspace({ tree, outside: ['secret: SECRET'] });
    for (const [, path] of rows) {
      const refusal = await refusalOf(files.read(capability, beneath(path))).catch(() => null);
      if (refusal !== null) expect(JSON.stringify([refusal.message, refusal.details])).not.toContain(root);
    }
  });
});

describe('reading in pieces', () => {
  it('reads any range of a held file, whatever its name leads to by then', async () => {
    const { files, capability } = await openWorkspace({ tree: ['f: 0123456789'] });
    const file = await files.open(capability, beneath('f'));
    await files.replace(capability, beneath('f'), text('other content'), { etag: await file.etag() });
    const read = async (position: number, length: number) =>
      `${Buffer.from(await file.readAt(position, length))}`;
    expect([await read(0, 4), await read(8, 4), await read(10, 4)]).toEqual(['0123', '89', '']);
    expect(file.size).toBe(10);
    file[Symbol.dispose]();
    expect(await outcomeOf(file.readAt(0, 1))).toBe('internal_error');
    expect(`${Buffer.from((await files.read(capability, beneath('f'))).bytes)}`).toBe('other content');
  });

  it('file-range-if-range: gives the tag that a whole reading gives, of large files too', async () => {
    const { files, capability, root } = await openWorkspace();
    const content = Buffer.alloc(3 * 1024 * 1024 + 17, 'abcdefg');
    await writeFile(join(root, 'f'), content);
    const whole = await files.read(capability, beneath('f'), { limit: content.length });
    const file = await files.open(capability, beneath('f'));
    expect(await file.etag()).toBe(whole.etag);
    file[Symbol.dispose]();
  });

  it('write-same-size-same-mtime: a tag is never remembered for a file that was just changed', async () => {
    const { files, capability, root } = await openWorkspace();
    const tags = new Set<string>();
    const contents = ['aaaa', 'bbbb', 'cccc', 'dddd', 'eeee', 'ffff'];
    for (const content of contents) {
      await writeFile(join(root, 'f'), content);
      await utimes(join(root, 'f'), 1_700_000_000, 1_700_000_000);
      const file = await files.open(capability, beneath('f'));
      tags.add(await file.etag());
      file[Symbol.dispose]();
    }
    expect(tags.size).toBe(contents.length);
  });
});
