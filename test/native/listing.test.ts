import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { NativeListing, PathGuard } from '../../src/native/binding.ts';
import { mayMount, mountTmpfs } from '../support/mounts.ts';
import { Room } from './room.ts';

const types = ['file', 'directory', 'symlink', 'other'];
const links = ['', 'inside', 'outside', 'broken'];

interface Options {
  readonly path?: string;
  readonly after?: Uint8Array;
  readonly limit?: number;
  readonly guard?: PathGuard | null;
}

function list(room: Room, options: Options = {}): Promise<NativeListing> {
  const { path = '.', after, limit = 1e6, guard = room.guard } = options;
  return room.root.list(
    path,
    { rootPath: room.path, limit, ...(after === undefined ? {} : { after }) },
    guard,
  );
}

function namesOf({ names }: NativeListing): Buffer[] {
  const found: Buffer[] = [];
  const bytes = Buffer.from(names);
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(0, start);
    found.push(bytes.subarray(start, end));
    start = end + 1;
  }
  return found;
}

/** `name: type link closed`, one line for each entry. */
function linesOf(listing: NativeListing): string[] {
  return namesOf(listing).map((name, index) => {
    const words = [types[listing.types[index] as number], links[listing.links[index] as number]];
    if (listing.closed[index] === 1) words.push('closed');
    return `${name}: ${words.filter((word) => word !== '').join(' ')}`;
  });
}

describe('listing a directory', () => {
  it('R10: tells every entry, its type, size, time and mode, as lstat does', async () => {
    const room = await Room.open();
    room.write('d/file', 'content');
    room.write('d/.hidden', '');
    room.write('d/sub/x');
    symlinkSync('file', room.at('d/link'));
    execFileSync('mkfifo', [room.at('d/pipe')]);
    const listing = await list(room, { path: 'd' });
    const names = namesOf(listing).map(String);
    expect(names).toEqual((await readdir(room.at('d'))).sort());
    for (const [index, name] of names.entries()) {
      const facts = await lstat(room.at('d', name), { bigint: true });
      expect([listing.sizes[index], listing.modifiedNs[index], listing.modes[index]]).toEqual([
        Number(facts.size),
        facts.mtimeNs,
        Number(facts.mode),
      ]);
    }
    expect(linesOf(listing)).toEqual([
      '.hidden: file',
      'file: file',
      'link: symlink inside',
      'pipe: other',
      'sub: directory',
    ]);
    expect(listing.more).toBe(false);
  });

  it('an empty directory is an empty listing', async () => {
    const room = await Room.open();
    const listing = await list(room);
    expect([listing.names.length, listing.types.length, listing.more]).toEqual([0, 0, false]);
  });

  it('R11: says where each link leads, without following any', async () => {
    const room = await Room.open();
    room.write('a/f');
    const targets: Readonly<Record<string, string>> = {
      'to-file': 'a/f',
      'to-directory': 'a',
      'to-root': '.',
      'to-root-absolute': room.path,
      'absolute-inside': join(room.path, 'a/f'),
      'absolute-odd': `${room.path}//a/./f`,
      'absolute-outside': '/etc/passwd',
      'absolute-prefix': `${room.path}-other/f`,
      'up-and-out': '../x',
      'up-and-back': `../${room.path.split('/').at(-1)}/a/f`,
      dangling: 'nowhere',
      'dangling-below-file': 'a/f/x',
      loop: 'loop',
      chain: 'to-file',
    };
    for (const [name, target] of Object.entries(targets)) symlinkSync(target, room.at(name));
    const lines = linesOf(await list(room)).filter((line) => line.includes('symlink'));
    expect(Object.fromEntries(lines.map((line) => line.split(': symlink ')))).toEqual({
      'to-file': 'inside',
      'to-directory': 'inside',
      'to-root': 'inside',
      'to-root-absolute': 'inside',
      'absolute-inside': 'inside',
      'absolute-odd': 'inside',
      'absolute-outside': 'outside',
      'absolute-prefix': 'outside',
      'up-and-out': 'outside',
      'up-and-back': 'outside',
      dangling: 'broken',
      'dangling-below-file': 'broken',
      loop: 'broken',
      chain: 'inside',
    });
  });

  it('R12: marks closed directories, and marks none without a guard', async () => {
    const room = await Room.open();
    room.writeGitShape('repository');
    room.write('plain/HEAD');
    expect(linesOf(await list(room))).toEqual(['plain: directory', 'repository: directory closed']);
    expect(linesOf(await list(room, { guard: null }))).toEqual(['plain: directory', 'repository: directory']);
  });

  it('R10: gives names byte by byte, sorted as bytes', async () => {
    const room = await Room.open();
    const names = ['\u00e9', 'e\u0301', 'z', 'A', 'a', '\u{1f600}', 'new\nline', 'tab\t'].map((name) =>
      Buffer.from(name),
    );
    names.push(Buffer.from([0xff, 0xfe]), Buffer.from([0x61, 0x80]), Buffer.from([0x01]));
    for (const name of names) writeFileSync(Buffer.concat([Buffer.from(`${room.path}/`), name]), '');
    expect(namesOf(await list(room))).toEqual(names.sort(Buffer.compare));
  });

  it('pages through a directory of any size without losing or repeating an entry', async () => {
    const room = await Room.open();
    const count = 2500;
    for (let index = 0; index < count; index += 1) writeFileSync(room.at(`entry-${index}`), '');
    const whole = namesOf(await list(room)).map(String);
    expect(whole).toEqual(Array.from({ length: count }, (_, index) => `entry-${index}`).sort());
    const paged: string[] = [];
    let more = true;
    while (more) {
      const last = paged.at(-1);
      const page = await list(room, {
        limit: 611,
        ...(last === undefined ? {} : { after: Buffer.from(last) }),
      });
      const names = namesOf(page).map(String);
      expect(names.length).toBe(Math.min(611, count - paged.length));
      paged.push(...names);
      more = page.more;
    }
    expect(paged).toEqual(whole);
    const past = await list(room, { after: Buffer.from('zzz') });
    expect([past.names.length, past.more]).toEqual([0, false]);
    expect((await list(room, { limit: 0 })).more).toBe(true);
  });

  it('R10: refuses what is no directory, leads out or is not there', async () => {
    const room = await Room.open();
    room.write('f');
    symlinkSync('/etc', room.at('out'));
    symlinkSync('.', room.at('self'));
    const failures = ['f', 'out', 'self', 'missing', 'f/x', '..', '/', ''].map(async (path) => {
      const failure = await list(room, { path }).catch((error: unknown) => error);
      return (failure as { code: string }).code;
    });
    expect(await Promise.all(failures)).toEqual([
      'ENOTDIR',
      'ELOOP',
      'ELOOP',
      'ENOENT',
      'ENOTDIR',
      'EINVAL',
      'EINVAL',
      'EINVAL',
    ]);
  });

  it.runIf(mayMount)('R11: does not enter mounts, and says nothing of what is mounted', async () => {
    const room = await Room.open();
    const allowing = await Room.open({ path: room.path, root: { allowMounts: true } });
    mkdirSync(room.at('m'));
    await mountTmpfs(room.at('m'));
    room.write('m/f');
    symlinkSync('m/f', room.at('into'));
    expect(linesOf(await list(room))).toEqual(['into: symlink outside', 'm: other']);
    expect(linesOf(await list(allowing))).toEqual(['into: symlink inside', 'm: directory']);
    await expect(list(room, { path: 'm' })).rejects.toMatchObject({ code: 'EXDEV' });
    expect(linesOf(await list(allowing, { path: 'm' }))).toEqual(['f: file']);
  });

  it('holds while entries come and go', async () => {
    const room = await Room.open();
    for (let index = 0; index < 300; index += 1) writeFileSync(room.at(`stays-${index}`), '');
    const { rm, writeFile } = await import('node:fs/promises');
    let running = true;
    const churn = (async () => {
      for (let index = 0; running; index = (index + 1) % 50) {
        await writeFile(room.at(`comes-${index}`), '');
        await rm(room.at(`comes-${index}`));
      }
    })();
    for (let round = 0; round < 50; round += 1) {
      const lines = linesOf(await list(room));
      expect(lines.filter((line) => line.startsWith('stays-'))).toHaveLength(300);
    }
    running = false;
    await churn;
  });
});
