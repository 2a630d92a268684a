import { describe, expect, it } from 'vitest';
import { DiffBudget, type DiffLimits, diffLimits } from '../../src/git/diff-file.ts';
import { inDiffOrder } from '../../src/git/diff-order.ts';
import { MalformedPatch } from '../../src/git/diff-patch.ts';
import { parseRawRecords } from '../../src/git/diff-raw.ts';
import { DiffReader } from '../../src/git/diff-reader.ts';
import { UntrackedReader } from '../../src/git/untracked-names.ts';

const oid = '1'.repeat(40);

function raw(status: string, paths: readonly string[], modes = '100644 100644'): string {
  return [`:${modes} ${oid} ${oid} ${status}`, ...paths, ''].join('\0');
}

function read(text: string, chunkBytes = 1 << 20, limits: Partial<DiffLimits> = {}) {
  const budget = new DiffBudget({ ...diffLimits, ...limits });
  const reader = new DiffReader(budget);
  const bytes = Buffer.from(text, 'latin1');
  for (let at = 0; at < bytes.length; at += chunkBytes) reader.push(bytes.subarray(at, at + chunkBytes));
  return { files: reader.finish(), exceeded: budget.exceeded };
}

const section = (name: string, ...lines: readonly string[]) =>
  [
    `diff --git a/${name} b/${name}`,
    `index ${oid}..${oid} 100644`,
    `--- a/${name}`,
    `+++ b/${name}`,
    ...lines,
    '',
  ].join('\n');

const tricky = `${raw('M', ['f'])}${raw('M', ['g'])}\0${section(
  'f',
  '@@ -1,4 +1,3 @@ select',
  '--- a/g',
  '-- a comment',
  '+++ b/g',
  ' ',
  '-diff --git a/g b/g',
  '\\ No newline at end of file',
  '+@@ -1 +1 @@',
  '\\ No newline at end of file',
)}${section('g', '@@ -7 +7,0 @@', '-x\r')}`;

describe('a patch is read by the lengths of its hunks', () => {
  it.each([1, 2, 3, 7, 64, 1 << 20])(
    'W28, W29: lines that look like headers are lines, in chunks of %i bytes',
    (size) => {
      const { files } = read(tricky, size);
      expect(files.map(({ path, additions, deletions }) => [path, additions, deletions])).toEqual([
        ['f', 2, 3],
        ['g', 0, 1],
      ]);
      expect(files[0]?.hunks).toEqual([
        {
          oldStart: 1,
          oldCount: 4,
          newStart: 1,
          newCount: 3,
          header: 'select',
          lines: [
            { type: 'del', content: '-- a/g' },
            { type: 'del', content: '- a comment' },
            { type: 'add', content: '++ b/g' },
            { type: 'ctx', content: '' },
            { type: 'del', content: 'diff --git a/g b/g' },
            { type: 'meta', content: '\\ No newline at end of file' },
            { type: 'add', content: '@@ -1 +1 @@' },
            { type: 'meta', content: '\\ No newline at end of file' },
          ],
        },
      ]);
      expect(files[1]?.hunks[0]).toMatchObject({ newCount: 0, lines: [{ type: 'del', content: 'x\r' }] });
    },
  );

  it('W30: names come from the records, where no byte can end one', () => {
    const names = ['x b/y', 'a\nb', 'q"uote', 'tab\t', 'back\\slash', '\x01\x7f'];
    const quoted = ['x b/y', 'a\\nb', 'q\\"uote', 'tab\\t', 'back\\\\slash', '\\001\\177'];
    const headers = quoted.map((name) => {
      const [one, other] = name === 'x b/y' ? [`a/${name}`, `b/${name}`] : [`"a/${name}"`, `"b/${name}"`];
      return `diff --git ${one} ${other}\nold mode 100644\nnew mode 100755\n`;
    });
    const { files } = read(
      `${names.map((name) => raw('M', [name], '100644 100755')).join('')}\0${headers.join('')}`,
    );
    expect(files.map(({ path }) => path)).toEqual(names);
    expect(files[0]).toMatchObject({ status: 'modified', oldMode: '100644', newMode: '100755', hunks: [] });
  });

  it('a record without a section is a file whose time alone changed', () => {
    expect(
      read(`${raw('M', ['a'])}${raw('M', ['b'])}\0${section('b', '@@ -1 +1 @@', '-1', '+2')}`).files,
    ).toMatchObject([{ path: 'b' }]);
  });

  it('what is not UTF-8 is flagged, and its bytes are kept', () => {
    const [file] = read(
      `${raw('M', ['\xe9'])}\0${section('\xe9', '@@ -1 +1 @@', '-\xff', '+\xc3\xa9 \xef\xbf\xbd')}`,
    ).files;
    expect(file).toMatchObject({ path: '\ufffd', pathBase64: '6Q==', undecodable: true });
    expect(file?.hunks[0]?.lines).toEqual([
      { type: 'del', content: '\ufffd', base64: '/w==' },
      { type: 'add', content: 'é \ufffd' },
    ]);
  });

  it.each([
    ['ends in a hunk', `${raw('M', ['f'])}\0${section('f', '@@ -1,2 +1 @@', '-1', '+2')}`],
    ['has a hunk that is too long', `${raw('M', ['f'])}\0${section('f', '@@ -1 +1 @@', '-1', '-2', '+2')}`],
    ['has a line of no kind', `${raw('M', ['f'])}\0${section('f', '@@ -1 +1 @@', '-1', '?2')}`],
    ['names a file that no record names', `${raw('M', ['f'])}\0${section('g', '@@ -1 +1 @@', '-1', '+2')}`],
    [
      'has another order',
      `${raw('M', ['f'])}${raw('M', ['g'])}\0${section('g', '@@ -1 +0,0 @@', '-1')}${section('f', '@@ -1 +0,0 @@', '-1')}`,
    ],
    ['lacks what was added', `${raw('A', ['f'], '000000 100644')}\0`],
    [
      'has no end of its last line',
      `${raw('M', ['f'])}\0${section('f', '@@ -1 +1 @@', '-1', '+2').slice(0, -1)}`,
    ],
    ['begins with a line', `${raw('M', ['f'])}\0x\n`],
    ['has records without an end', raw('M', ['f'])],
    ['has a record of another form', `:100644 ${raw('M', ['f'])}\0`],
    ['has a rename of one name', `${raw('R100', ['f'])}\0`],
  ])('a patch that %s is no answer', (_what, text) => {
    expect(() => read(text)).toThrow(MalformedPatch);
  });

  it('records are read strictly', () => {
    expect(parseRawRecords(Buffer.from(raw('R087', ['a', 'b'], '100644 120000')))).toEqual([
      { status: 'R', oldMode: '100644', newMode: '120000', path: 'b', oldPath: 'a' },
    ]);
    for (const text of [raw('X', ['a']), raw('M', ['']), raw('M087', ['a']), raw('M', ['a']).slice(0, -1)]) {
      expect(parseRawRecords(Buffer.from(text))).toBeNull();
    }
  });
});

describe('W32: what is too long is said, file by file', () => {
  const file = (name: string, bytes: number) => section(name, '@@ -1 +1 @@', '-1', `+${'x'.repeat(bytes)}`);
  const records = ['a', 'b', 'c'].map((name) => raw('M', [name])).join('');
  const text = `${records}\0${file('a', 500)}${file('b', 3000)}${file('c', 500)}`;

  it.each([100, 1 << 20])('a file over its own limit hides no other, in chunks of %i bytes', (size) => {
    const { files, exceeded } = read(text, size, { fileBytes: 2000 });
    expect(files.map(({ path, status, additions }) => [path, status, additions])).toEqual([
      ['a', 'modified', 1],
      ['b', 'too_large', 1],
      ['c', 'modified', 1],
    ]);
    expect(files[1]).toMatchObject({ change: 'modified', hunks: [] });
    expect(exceeded).toBe(false);
  });

  it('over the limit of all, those that still fit are shown', () => {
    const { files, exceeded } = read(text, 100, { totalBytes: 2000 });
    expect(files.map(({ status }) => status)).toEqual(['modified', 'too_large', 'modified']);
    expect(exceeded).toBe(true);
  });

  it('untracked names over the limit are counted', () => {
    const reader = new UntrackedReader(2);
    for (const piece of ['a\0dir/', 'b\0c\0nest/\0', 'd\0']) reader.push(Buffer.from(piece));
    expect(reader.finish()).toEqual({ files: ['a', 'dir/b'], repositories: ['nest'], omitted: 2 });
  });
});

it('W32: directories come before files, and names in one order under every locale', () => {
  const paths = ['Z', 'a/z', 'b', 'a/b/c', 'ä', 'a/B', 'é/x', '_', 'a/b/a/q'];
  const ordered = ['a/b/a/q', 'a/b/c', 'a/B', 'a/z', 'é/x', 'Z', '_', 'b', 'ä'];
  expect(inDiffOrder(paths.map((path) => ({ path }))).map(({ path }) => path)).toEqual(ordered);
});
