import { execFileSync } from 'node:child_process';
import {
  appendFile,
  chmod,
  chown,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  symlink,
  unlink,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { StoredIdentity } from '../../src/capability/identity.ts';
import { openFileRegistry } from '../../src/registry/file-registry.ts';
import { createPinStore } from '../../src/registry/workspace-pins.ts';
import type { NewWorkspaceRow, WritableWorkspaceRegistry } from '../../src/registry/workspace-registry.ts';
import { openState, refusalOf, temporaryDirectory } from '../support/state.ts';

const identity: StoredIdentity = {
  inode: '12345',
  fileSystemId: '-7',
  handle: '1:a0b1c2d3e4f50617',
  birthTimeNs: '1700000000000000000',
};

function newRow(path: string): NewWorkspaceRow {
  return { path, title: null, identity, gitDirIdentity: null, allowMounts: false };
}

interface Opened {
  readonly registry: WritableWorkspaceRegistry;
  /** Path of the state directory. */
  readonly path: string;
  /** Path of registry.json. */
  readonly file: string;
}

async function openRegistry(path?: string): Promise<Opened> {
  const directory = path ?? join(await temporaryDirectory(), 'state');
  const { state, gate } = await openState(directory);
  const registry = await openFileRegistry(state, gate);
  return { registry, path: directory, file: join(directory, 'registry.json') };
}

describe('rows', () => {
  it('R02: are found by their exact path, from the moment they are written', async () => {
    const { registry, file } = await openRegistry();
    expect(await registry.list()).toEqual([]);
    const row = await registry.add({ ...newRow('/srv/app'), title: 'App', gitDirIdentity: identity });
    expect(await registry.find('/srv/app')).toEqual(row);
    for (const other of ['/srv/app/', '/srv', '/srv/app/src', '/srv/app-secret', '/SRV/APP', '']) {
      expect(await registry.find(other), other).toBeNull();
    }
    expect(row).toMatchObject({
      path: '/srv/app',
      title: 'App',
      identity,
      gitDirIdentity: identity,
      allowMounts: false,
    });
    expect(row.id).toMatch(/^[0-9a-f-]{36}$/);
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({ version: 1, workspaces: [row] });
  });

  it('survive another process and are seen by it at once', async () => {
    const one = await openRegistry();
    const two = await openRegistry(one.path);
    const row = await one.registry.add(newRow('/srv/app'));
    expect(await two.registry.find('/srv/app')).toEqual(row);
    await two.registry.remove('/srv/app');
    expect(await one.registry.find('/srv/app')).toBeNull();
    expect(await one.registry.list()).toEqual([]);
  });

  it('are looked up without waiting while the file is unchanged', async () => {
    const { registry, file } = await openRegistry();
    await registry.add(newRow('/srv/app'));
    // A file that was just written is not trusted to show the next change: its stamp has to age first.
    await expect
      .poll(async () => {
        const found = registry.find('/srv/app');
        await found;
        return found instanceof Promise;
      })
      .toBe(false);
    expect(registry.list()).toHaveLength(1);
    await appendFile(file, '\n');
    const waited = registry.find('/srv/app');
    expect(waited).toBeInstanceOf(Promise);
    await waited;
  });

  it('two edits by hand within one tick of the clock are both seen', async () => {
    const { registry, file } = await openRegistry();
    await registry.add(newRow('/srv/one'));
    const text = await readFile(file, 'utf8');
    for (let edit = 0; edit < 50; edit += 1) {
      const name = edit % 2 === 0 ? '/srv/two' : '/srv/one';
      await writeFile(file, text.replace('/srv/one', name));
      expect(await registry.find(name), `edit ${edit}`).not.toBeNull();
    }
  });

  it('a second row for a path is refused, and nothing is changed', async () => {
    const { registry, file } = await openRegistry();
    await registry.add(newRow('/srv/app'));
    const before = await readFile(file);
    expect((await refusalOf(() => registry.add(newRow('/srv/app')))).code).toBe(
      'workspace_already_registered',
    );
    expect((await refusalOf(() => registry.remove('/srv/other'))).code).toBe('workspace_not_found');
    const pins = { identity, gitDirIdentity: null };
    expect((await refusalOf(() => registry.confirm('/srv/other', pins))).code).toBe('workspace_not_found');
    expect(await readFile(file)).toEqual(before);
  });

  it('confirming renews the pinned identities and nothing else', async () => {
    const { registry } = await openRegistry();
    await registry.add(newRow('/srv/other'));
    const row = await registry.add({ ...newRow('/srv/app'), title: 'App', allowMounts: true });
    const renewed = { ...identity, inode: '999' };
    const confirmed = await registry.confirm('/srv/app', { identity: renewed, gitDirIdentity: renewed });
    expect(confirmed).toEqual({ ...row, identity: renewed, gitDirIdentity: renewed });
    expect(await registry.find('/srv/app')).toEqual(confirmed);
    expect((await registry.list()).map(({ path }) => path)).toEqual(['/srv/other', '/srv/app']);
  });

  it('leave no temporary file behind, and the file is 0600', async () => {
    const { registry, path } = await openRegistry();
    await registry.add(newRow('/srv/a'));
    await registry.add(newRow('/srv/b'));
    await registry.remove('/srv/a');
    expect((await readdir(path)).sort()).toEqual(['locks', 'registry.json', 'registry.json.initialised']);
  });

  it('a caller who leaves before the turn changes nothing', async () => {
    const { registry } = await openRegistry();
    expect((await refusalOf(() => registry.add(newRow('/srv/a'), AbortSignal.abort()))).code).toBe('aborted');
    expect(await registry.list()).toEqual([]);
  });
});

describe('R04: a registry file that cannot be read completely is registry_unavailable, never empty', () => {
  const row = {
    id: 'a',
    path: '/srv/a',
    title: null,
    identity,
    gitDirIdentity: null,
    allowMounts: false,
    registeredAt: '2026-01-01T00:00:00.000Z',
  };
  const withRows = (...workspaces: readonly object[]) => JSON.stringify({ version: 1, workspaces });

  const contents: readonly (readonly [title: string, content: string | Buffer, reason: RegExp])[] = [
    ['empty', '', /not valid JSON/],
    ['truncated', withRows(row).slice(0, -20), /not valid JSON/],
    ['garbage', Buffer.from([0xff, 0xfe, 0x00, 0x80]), /not valid JSON/],
    ['not UTF-8 inside a string', Buffer.from(withRows({ ...row, title: 'é' }), 'latin1'), /not valid JSON/],
    ['an array', '[]', /not a JSON object/],
    ['null', 'null', /not a JSON object/],
    ['without version', JSON.stringify({ workspaces: [] }), /version 1/],
    ['of a later version', JSON.stringify({ version: 2, workspaces: [] }), /version 1/],
    ['with a version in a string', JSON.stringify({ version: '1', workspaces: [] }), /version 1/],
    ['without rows', JSON.stringify({ version: 1 }), /workspaces is not an array/],
    ['with rows in an object', JSON.stringify({ version: 1, workspaces: {} }), /workspaces is not an array/],
    ['with a field of unknown name', JSON.stringify({ version: 1, workspaces: [], more: 1 }), /unknown name/],
    ['with a row that is null', withRows(null as unknown as object), /workspaces\[0\] is not an object/],
    ['with two owners of a path', withRows(row, { ...row, id: 'b' }), /ambiguous path ownership/],
    ['with an id twice', withRows(row, { ...row, path: '/srv/b' }), /an id twice/],
    ['with a relative path', withRows({ ...row, path: 'srv/a' }), /path is not a canonical absolute path/],
    ['with a path with ..', withRows({ ...row, path: '/srv/x/../a' }), /canonical/],
    ['with a path with .', withRows({ ...row, path: '/srv/./a' }), /canonical/],
    ['with a path with //', withRows({ ...row, path: '/srv//a' }), /canonical/],
    ['with a path with a slash at the end', withRows({ ...row, path: '/srv/a/' }), /canonical/],
    ['with / as a path', withRows({ ...row, path: '/' }), /canonical/],
    ['with NUL in a path', withRows({ ...row, path: '/srv/a\0b' }), /canonical/],
    ['with a lone surrogate in a path', withRows({ ...row, path: '/srv/\ud800' }), /canonical/],
    ['with a path that is a number', withRows({ ...row, path: 1 }), /canonical/],
    ['with a row without path', withRows({ ...row, path: undefined }), /canonical/],
    ['with a row without identity', withRows({ ...row, identity: null }), /identity is not an object/],
    [
      'with an identity of numbers',
      withRows({ ...row, identity: { ...identity, inode: 5 } }),
      /identity\.inode/,
    ],
    [
      'with an identity of more fields',
      withRows({ ...row, identity: { ...identity, x: 1 } }),
      /unknown name/,
    ],
    [
      'with a row of unknown fields',
      withRows({ ...row, x: 1 }),
      /workspaces\[0\] has a field of unknown name/,
    ],
    ['with a time that is none', withRows({ ...row, registeredAt: 'yesterday' }), /registeredAt/],
    ['with allowMounts as text', withRows({ ...row, allowMounts: 'false' }), /allowMounts/],
    ['with a title of 201 characters', withRows({ ...row, title: 'x'.repeat(201) }), /title/],
    ['larger than 16 MiB', Buffer.alloc(16 * 1024 * 1024 + 1, 0x20), /is larger than 16777216 bytes/],
  ];

  it.each(contents)('%s', async (_, content, reason) => {
    const { registry, file } = await openRegistry();
    await registry.add(newRow('/srv/good'));
    await writeFile(file, content);
    const refused = {
      code: 'registry_unavailable',
      details: { file: 'registry.json', reason: expect.stringMatching(reason) },
    };
    expect(await refusalOf(() => registry.find('/srv/a'))).toEqual(refused);
    expect(await refusalOf(() => registry.list())).toEqual(refused);
    expect(await refusalOf(() => registry.add(newRow('/srv/new')))).toEqual(refused);
    expect((await readFile(file)).equals(Buffer.from(content))).toBe(true);
  });

  const places: readonly (readonly [
    title: string,
    spoil: (file: string) => Promise<unknown>,
    reason: RegExp,
  ])[] = [
    ['missing', (file) => unlink(file), /is missing, although it was written before/],
    [
      'a symbolic link',
      async (file) => {
        await rename(file, `${file}.real`);
        await symlink(`${file}.real`, file);
      },
      /is a symbolic link/,
    ],
    [
      'a directory',
      async (file) => {
        await unlink(file);
        await mkdir(file);
      },
      /is not a regular file/,
    ],
    [
      'a FIFO',
      async (file) => {
        await unlink(file);
        execFileSync('mkfifo', [file]);
      },
      /is not a regular file/,
    ],
    ["somebody else's", (file) => chown(file, 65534, 65534), /belongs to user 65534/],
    ['writable by others', (file) => chmod(file, 0o666), /can be written by/],
    [
      'moved away with its directory',
      (file) => rename(join(file, '..'), join(file, '../../moved')),
      /moved away/,
    ],
    ['deleted with its directory', (file) => rm(join(file, '..'), { recursive: true }), /moved away/],
  ];

  it.each(places)('%s; and it heals when it is put right', async (_, spoil, reason) => {
    const { registry, path, file } = await openRegistry();
    const kept = await registry.add(newRow('/srv/good'));
    const content = await readFile(file);
    await spoil(file);
    const refused = {
      code: 'registry_unavailable',
      details: { file: 'registry.json', reason: expect.stringMatching(reason) },
    };
    expect(await refusalOf(() => registry.find('/srv/good'))).toEqual(refused);
    expect(await refusalOf(() => registry.list())).toEqual(refused);
    if (reason.source === 'moved away') return;
    await rm(file, { recursive: true, force: true });
    await writeFile(file, content, { mode: 0o600 });
    expect(await registry.find('/srv/good')).toEqual(kept);
    expect(await readdir(path)).toContain('registry.json.initialised');
  });

  it('missing for a process that starts after it went missing', async () => {
    const { registry, path, file } = await openRegistry();
    await registry.add(newRow('/srv/good'));
    await unlink(file);
    const later = await openRegistry(path);
    const refused = {
      code: 'registry_unavailable',
      details: { file: 'registry.json', reason: expect.stringContaining('missing') },
    };
    expect(await refusalOf(() => later.registry.find('/srv/good'))).toEqual(refused);
    expect(await refusalOf(() => later.registry.add(newRow('/srv/new')))).toEqual(refused);
    await unlink(`${file}.initialised`);
    const anew = await openRegistry(path);
    expect(await anew.registry.list()).toEqual([]);
  });

  it('missing also when a kill came before the mark that it exists', async () => {
    const { registry, path, file } = await openRegistry();
    await registry.add(newRow('/srv/good'));
    await unlink(`${file}.initialised`);
    await openRegistry(path);
    await unlink(file);
    const later = await openRegistry(path);
    expect((await refusalOf(() => later.registry.list())).code).toBe('registry_unavailable');
  });

  it('no path and no content of the registry is in the refusal', async () => {
    const { registry, path, file } = await openRegistry();
    await registry.add(newRow('/srv/good'));
    await writeFile(file, JSON.stringify({ version: 1, workspaces: [{ 'secret-field': 'secret-value' }] }));
    const text = JSON.stringify(await refusalOf(() => registry.list()));
    expect(text).not.toMatch(/secret/);
    expect(text).not.toContain(path);
  });
});

describe('many changes at once', () => {
  it('64 adds in one process lose nothing, and one path is won by exactly one', async () => {
    const { registry } = await openRegistry();
    const adds = Array.from({ length: 64 }, (_, index) => registry.add(newRow(`/srv/${index % 32}`)));
    const results = await Promise.allSettled(adds);
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(32);
    expect(await registry.list()).toHaveLength(32);
  });

  it('a program that knows no lease is not overwritten: its rows stay', async () => {
    const { registry, file } = await openRegistry();
    await registry.add(newRow('/srv/first'));
    // What it has in mind grows with every version, and it never reads what we write: that may be taken back (threat model).
    const { workspaces } = JSON.parse(await readFile(file, 'utf8'));
    let foreign = 0;
    let done = false;
    const editor = (async () => {
      while (!done && foreign < 200) {
        workspaces.push({ ...workspaces[0], id: `foreign-${foreign}`, path: `/foreign/${foreign}` });
        await writeFile(`${file}.edited`, JSON.stringify({ version: 1, workspaces }), { mode: 0o600 });
        await rename(`${file}.edited`, file);
        foreign += 1;
      }
    })();
    const added: string[] = [];
    for (let index = 0; index < 20; index += 1) {
      const path = `/srv/${index}`;
      await registry
        .add(newRow(path))
        .then(() => added.push(path))
        .catch(() => undefined);
    }
    done = true;
    await editor;
    // The editor may lose our rows (it renames over them), but never the other way round.
    const paths = new Set((await registry.list()).map((row) => row.path));
    for (let index = 0; index < foreign; index += 1)
      expect(paths.has(`/foreign/${index}`), `/foreign/${index}`).toBe(true);
    expect(added.length).toBeGreaterThan(0);
  });
});

describe('pins of a foreign registry', () => {
  it('are made once, kept, and renewed only on request', async () => {
    const path = join(await temporaryDirectory(), 'state');
    const { state, gate } = await openState(path);
    const pins = createPinStore(state, gate);
    expect(await pins.find('/srv/app')).toBeNull();
    const first = { identity, gitDirIdentity: null };
    const second = { identity: { ...identity, inode: '2' }, gitDirIdentity: identity };
    expect(await pins.pin('/srv/app', first)).toMatchObject(first);
    expect(await pins.pin('/srv/app', second)).toMatchObject(first);
    await pins.renew('/srv/app', second);
    expect(await createPinStore(state, gate).find('/srv/app')).toMatchObject(second);
  });

  it('R04: pins that cannot be read are state_unavailable, never "first use"', async () => {
    const path = join(await temporaryDirectory(), 'state');
    const { state, gate } = await openState(path);
    await createPinStore(state, gate).pin('/srv/app', { identity, gitDirIdentity: null });
    const later = createPinStore(state, gate);
    await writeFile(join(path, 'pins.json'), '{');
    expect((await refusalOf(() => later.find('/srv/app'))).code).toBe('state_unavailable');
    await unlink(join(path, 'pins.json'));
    const refused = {
      code: 'state_unavailable',
      details: { file: 'pins.json', reason: expect.stringContaining('missing') },
    };
    expect(await refusalOf(() => later.pin('/srv/app', { identity, gitDirIdentity: null }))).toEqual(refused);
  });
});
