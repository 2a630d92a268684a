import { chmod, lstat, mkdir, readdir, readFile, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { ArchiveMember, Archives, RestorePlace } from '../../src/archive/archives.ts';
import { type ArchivesOptions, createArchives } from '../../src/archive/create-archives.ts';
import type { RestoreOptions } from '../../src/archive/restore-entry.ts';
import type { DirectoryHandle } from '../../src/capability/handles.ts';
import { openHeldRoot } from '../../src/capability/open-held-root.ts';
import { native } from '../support/addon.ts';
import { mayMount, mountTmpfs } from '../support/mounts.ts';
import { openState, refusalOf, temporaryDirectory } from '../support/state.ts';
import { makeTree, readTree } from '../support/tree.ts';

const area = 'files';
const dayMs = 24 * 60 * 60 * 1000;

interface Lab {
  readonly archives: Archives;
  /** `archives/` in the state directory. */
  readonly path: string;
  /** A checkout, and its held directory. */
  readonly source: string;
  readonly held: DirectoryHandle;
}

async function openLab(options: ArchivesOptions = {}): Promise<Lab> {
  const root = await temporaryDirectory();
  const source = join(root, 'source');
  await mkdir(source);
  const { state, gate } = await openState(join(root, 'state'));
  const archives = createArchives(state, gate, options);
  return { archives, path: join(root, 'state/archives'), source, held: await hold(source) };
}

async function hold(path: string): Promise<DirectoryHandle> {
  const held = await native.openRoot(path, {});
  onTestFinished(() => held.close());
  return held;
}

async function target(): Promise<{ path: string; place: RestorePlace }> {
  const path = await temporaryDirectory();
  return { path, place: { directory: await hold(path), guard: null } };
}

function members(held: DirectoryHandle, paths: readonly string[]): readonly ArchiveMember[] {
  return paths.map((path) => ({ area, path: Buffer.from(path).toString('latin1'), from: held }));
}

function write({ archives, held }: Lab, paths: readonly string[], owner = 'family:1') {
  return archives.write({ kind: 'discard', owner, facts: { head: 'abc' }, members: members(held, paths) });
}

async function restoreAll(archives: Archives, id: string, place: RestorePlace, options: RestoreOptions = {}) {
  using archive = await archives.open(id);
  const outcomes = await archive.restore(place, { entries: await archive.entries(area), ...options });
  return Object.fromEntries(outcomes.map(({ path, outcome }) => [path, outcome]));
}

describe('R41: an archive', () => {
  it('gives back contents, modes, links, empty directories and names of any bytes', async () => {
    const lab = await openLab();
    await makeTree(lab.source, [
      'a: one',
      'deep/er/b: two',
      'link -> ../gone',
      'empty/',
      'ümläut: x',
      'new\nline: y',
    ]);
    await writeFile(join(lab.source, 'zero'), '');
    const expected = await readTree(lab.source);
    await writeFile(Buffer.from(`${lab.source}/raw-\xff`, 'latin1'), 'bytes');
    await chmod(join(lab.source, 'a'), 0o751);
    const paths = ['a', 'deep/er/b', 'link', 'empty', 'ümläut', 'new\nline', 'zero'];
    const { id } = await lab.archives.write({
      kind: 'discard',
      owner: 'family:1',
      facts: {},
      members: [...members(lab.held, paths), { area, path: 'raw-\xff', from: lab.held }],
    });
    const { path, place } = await target();
    expect(new Set(Object.values(await restoreAll(lab.archives, id, place)))).toEqual(new Set(['restored']));
    expect((await lstat(join(path, 'a'))).mode & 0o7777).toBe(0o751);
    expect(await readFile(Buffer.from(`${path}/raw-\xff`, 'latin1'), 'utf8')).toBe('bytes');
    expect(new Set(Object.values(await restoreAll(lab.archives, id, place)))).toEqual(new Set(['present']));
    await rm(Buffer.from(`${path}/raw-\xff`, 'latin1'));
    expect(await readTree(path)).toEqual(expected);
  });

  it('is a directory of mode 0700 with files of mode 0600, and says what it is', async () => {
    const lab = await openLab({ now: () => Date.parse('2026-03-04T05:06:07.008Z') });
    await makeTree(lab.source, ['a: one']);
    const { id } = await write(lab, ['a']);
    expect(id).toMatch(/^20260304050607008-[0-9a-f]{16}$/);
    const modeOf = async (path: string) => (await lstat(join(lab.path, path))).mode & 0o7777;
    expect(await modeOf(id)).toBe(0o700);
    for (const name of await readdir(join(lab.path, id))) expect(await modeOf(`${id}/${name}`)).toBe(0o600);
    const [summary] = await lab.archives.list('family:1');
    expect(summary).toMatchObject({
      id,
      kind: 'discard',
      facts: { head: 'abc' },
      entries: 1,
      finished: false,
    });
    expect(summary?.createdAt).toBe('2026-03-04T05:06:07.008Z');
    expect(summary?.keptUntil).toBe('2026-04-03T05:06:07.008Z');
    await lab.archives.finish(id);
    await lab.archives.finish(id);
    expect((await lab.archives.list())[0]?.finished).toBe(true);
    expect(await lab.archives.list('family:2')).toEqual([]);
  });

  it('takes bytes of programs, and streams what is larger than its buffers', async () => {
    const { archives } = await openLab();
    const chunk = Buffer.alloc(700_000, 'x');
    const bytes = (async function* () {
      for (let count = 0; count < 5; count += 1) yield chunk;
    })();
    const given: readonly ArchiveMember[] = [
      { area: 'objects', path: 'pack', bytes },
      { area: 'git', path: 'index', bytes: Buffer.from('DIRC') },
    ];
    const { id } = await archives.write({ kind: 'worktree', owner: 'w', facts: {}, members: given });
    using archive = await archives.open(id);
    const [pack] = await archive.entries('objects');
    let size = 0;
    for await (const part of archive.content(pack as NonNullable<typeof pack>)) size += part.length;
    expect(size).toBe(3_500_000);
    expect((await archive.entries()).map(({ path }) => path)).toEqual(['pack', 'index']);
  });
});

describe('R41: what cannot be kept is refused before anything is kept', () => {
  const rows: readonly (readonly [title: string, tree: readonly string[], path: string, reason: string])[] = [
    ['a FIFO', ['p |'], 'p', 'special-file'],
    ['a socket', ['s ='], 's', 'special-file'],
    ['what is gone', [], 'gone', 'missing'],
    ['what lies behind a link', ['l -> d', 'd/f: x'], 'l/f', 'missing'],
    ['a file over the limit', ['big: 123456789'], 'big', 'file-too-large'],
    ['too many entries', ['a', 'b', 'c', 'd'], 'a b c d', 'too-many-entries'],
  ];
  it.each(rows)('%s', async (_title, tree, path, reason) => {
    const lab = await openLab({ limits: { fileBytes: 8, entries: 3 } });
    await makeTree(lab.source, tree);
    const { code, details } = await refusalOf(() => write(lab, path.split(' ')));
    expect(code).toBe('not_archivable');
    expect(details).toMatchObject({ reason, ...(reason === 'too-many-entries' ? {} : { paths: [path] }) });
    expect(await readdir(lab.path)).toEqual([]);
  });

  it('a full quota, which is free again when an archive was dropped', async () => {
    const lab = await openLab({ limits: { quotaBytes: 6000 } });
    await writeFile(join(lab.source, 'a'), Buffer.alloc(4000));
    const { id } = await write(lab, ['a']);
    const { code, details } = await refusalOf(() => write(lab, ['a']));
    expect(code).toBe('archive_quota_exceeded');
    expect(details).toMatchObject({ quotaBytes: 6000, oldest: id });
    expect((await lab.archives.list()).map((summary) => summary.id)).toEqual([id]);
    await lab.archives.drop(id);
    expect((await refusalOf(() => lab.archives.drop(id))).code).toBe('archive_not_found');
    await write(lab, ['a']);
  });

  it.skipIf(!mayMount)('a full disk', async () => {
    const root = await temporaryDirectory();
    await mountTmpfs(join(root, 'small'), '1m');
    const { state, gate } = await openState(join(root, 'small/state'));
    const archives = createArchives(state, gate);
    await writeFile(join(root, 'large'), Buffer.alloc(2 * 1024 * 1024, 'x'));
    await writeFile(join(root, 'little'), 'x');
    const held = await hold(root);
    const request = (path: string) =>
      ({ kind: 'discard', owner: 'o', facts: {}, members: members(held, [path]) }) as const;
    expect((await refusalOf(() => archives.write(request('large')))).code).toBe('no_space');
    expect(await readdir(join(root, 'small/state/archives'))).toEqual([]);
    await archives.write(request('little'));
  });

  it('an abort', async () => {
    const lab = await openLab();
    await makeTree(lab.source, ['a', 'b']);
    const abort = new AbortController();
    const slow = (async function* () {
      yield* members(lab.held, ['a']);
      abort.abort();
      yield* members(lab.held, ['b']);
    })();
    const request = { kind: 'discard', owner: 'o', facts: {}, members: slow } as const;
    expect((await refusalOf(() => lab.archives.write(request, abort.signal))).code).toBe('aborted');
    expect(await readdir(lab.path)).toEqual([]);
  });
});

describe('R41: restoring never overwrites', () => {
  const rows: readonly (readonly [title: string, there: readonly string[], outcome: string])[] = [
    ['another file', ['d/f: mine'], 'in-the-way'],
    ['a link', ['d/f -> ../elsewhere'], 'in-the-way'],
    ['a directory', ['d/f/x: mine'], 'in-the-way'],
    ['a file where a directory was', ['d: mine'], 'in-the-way'],
    ['a link where a directory was', ['other/', 'd -> other'], 'in-the-way'],
    ['the same file', ['d/f: kept'], 'present'],
  ];
  it.each(rows)('%s', async (_title, there, outcome) => {
    const lab = await openLab();
    await makeTree(lab.source, ['d/f: kept', 'd/other: kept']);
    const { id } = await write(lab, ['d/f']);
    const { path, place } = await target();
    await makeTree(path, there);
    const before = await readTree(path);
    expect(await restoreAll(lab.archives, id, place)).toEqual({ 'd/f': outcome });
    expect(await readTree(path)).toEqual(before);
  });

  it('but for the very version that the caller gave up', async () => {
    const lab = await openLab();
    await makeTree(lab.source, ['f: kept', 'g: kept']);
    const { id } = await write(lab, ['f', 'g']);
    const { path, place } = await target();
    await makeTree(path, ['f: given up', 'g: given up']);
    const mayReplace = async (name: string): Promise<boolean> => {
      if (name === 'g') await writeFile(join(path, 'g'), 'somebody was faster');
      return true;
    };
    expect(await restoreAll(lab.archives, id, place, { mayReplace })).toEqual({
      f: 'restored',
      g: 'in-the-way',
    });
    expect(await readTree(path)).toEqual(['f: kept', 'g: somebody was faster']);
  });

  it('and takes a held root for the place', async () => {
    const lab = await openLab();
    await makeTree(lab.source, ['f: x']);
    const { id } = await write(lab, ['f']);
    const path = await temporaryDirectory();
    const confinement = { isClosedName: () => false, closedShape: [], closedIdentities: [] };
    const held = await openHeldRoot(native, path, { confinement, allowMounts: false });
    onTestFinished(() => held.release());
    expect(await restoreAll(lab.archives, id, held)).toEqual({ f: 'restored' });
  });

  it('and names what the confinement closes', async () => {
    const lab = await openLab();
    await makeTree(lab.source, ['.git/config: x', 'f: x']);
    const { id } = await write(lab, ['.git/config', 'f']);
    const { path, place } = await target();
    const confinement = {
      isClosedName: (name: string) => name === '.git',
      closedShape: [],
      closedIdentities: [],
    };
    expect(await restoreAll(lab.archives, id, { ...place, confinement })).toEqual({
      '.git/config': 'refused',
      f: 'restored',
    });
    expect(await readTree(path)).toEqual(['f: x']);
  });
});

describe('R41: in the state directory', () => {
  it('an archive past its time goes with the next one that is written, and at the start', async () => {
    let now = Date.parse('2026-01-01T00:00:00Z');
    const lab = await openLab({ now: () => now });
    await makeTree(lab.source, ['a']);
    const { id } = await write(lab, ['a']);
    now += 30 * dayMs - 1;
    expect(await lab.archives.recover()).toEqual({ halfWritten: 0, expired: [] });
    now += 1;
    const other = await write(lab, ['a']);
    expect((await lab.archives.list()).map((summary) => summary.id)).toEqual([other.id]);
    expect((await refusalOf(() => lab.archives.open(id))).code).toBe('archive_not_found');
    now += 30 * dayMs;
    expect((await lab.archives.recover()).expired).toEqual([other.id]);
  });

  it('what a kill left half-written or half-dropped is no archive, and is removed', async () => {
    const lab = await openLab();
    await makeTree(lab.source, ['a']);
    const { id } = await write(lab, ['a']);
    await makeTree(lab.path, [
      `.writing-20260101000000000-0123456789abcdef/content: half`,
      `.dropping-20260101000000000-0123456789abcdef/manifest.json: {}`,
    ]);
    expect((await lab.archives.list()).map((summary) => summary.id)).toEqual([id]);
    expect((await lab.archives.recover()).halfWritten).toBe(2);
    expect(await readdir(lab.path)).toEqual([id]);
  });

  const damages: readonly (readonly [title: string, file: string, spoil: (path: string) => Promise<void>])[] =
    [
      ['a manifest of another version', 'manifest.json', (path) => writeFile(path, '{"version":2}')],
      ['a list that was cut off', 'entries', (path) => truncate(path, 10)],
      ['content that was changed', 'content', (path) => writeFile(path, 'evil')],
    ];
  it.each(damages)('%s is a refusal that names the file', async (_title, file, spoil) => {
    const lab = await openLab();
    await makeTree(lab.source, ['a: kept']);
    const { id } = await write(lab, ['a']);
    await spoil(join(lab.path, id, file));
    const { path, place } = await target();
    const { code, details } = await refusalOf(() => restoreAll(lab.archives, id, place));
    expect({ code, details }).toMatchObject({
      code: 'state_unavailable',
      details: { file: `archives/${id}/${file}` },
    });
    expect(await readdir(path)).toEqual([]);
    // One that is damaged keeps nobody from keeping more.
    await write(lab, ['a']);
  });

  it('a link in its place is refused', async () => {
    const lab = await openLab();
    await symlink('/tmp', lab.path);
    await makeTree(lab.source, ['a']);
    expect((await refusalOf(() => write(lab, ['a']))).code).toBe('state_unavailable');
  });

  it('two processes that write at once both keep their own', async () => {
    const root = await temporaryDirectory();
    await makeTree(join(root, 'source'), ['a: one']);
    const held = await hold(join(root, 'source'));
    const both = await Promise.all([openState(join(root, 'state')), openState(join(root, 'state'))]);
    const archives = both.map(({ state, gate }) => createArchives(state, gate));
    const request = () =>
      ({ kind: 'discard', owner: 'o', facts: {}, members: members(held, ['a']) }) as const;
    await Promise.all(Array.from({ length: 12 }, (_, turn) => archives[turn % 2]?.write(request())));
    expect(await archives[0]?.list('o')).toHaveLength(12);
  });
});
