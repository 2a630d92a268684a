import { mkdirSync, realpathSync, renameSync, symlinkSync } from 'node:fs';
import { basename } from 'node:path';
import { describe, expect, it } from 'vitest';
import { mayMount, mount } from '../support/mounts.ts';
import { makeTree } from '../support/tree.ts';
import { codeOf, Room } from './room.ts';

/** The canonical path, or the code of the refusal. */
async function resolve(room: Room, path: string, rootPath: string = room.path): Promise<string> {
  try {
    return Buffer.from(await room.root.resolveLinks(path, rootPath)).toString();
  } catch (error) {
    return codeOf(error);
  }
}

const tree = [
  'a/b/c/f',
  'file',
  'rel -> a/b',
  'abs -> $ROOT/a/b',
  'abs-file -> $ROOT/a/b/c/f',
  'abs-root -> $ROOT',
  'abs-root-slash -> $ROOT/',
  'abs-odd -> $ROOT//a/.//b/',
  'abs-up -> $ROOT/../$NAME/a',
  'abs-winding -> /tmp/../$ROOT/a',
  'out-abs -> /etc',
  'out-prefix -> $ROOTother/a',
  'out-up -> ../x',
  'out-and-back -> ../$NAME/a',
  'a/up -> ../file',
  'a/up-dir -> ..',
  'a/up-dir-dot -> ../.',
  'a/b/up-two -> ../../a/b/c',
  'a/b/up-three -> ../../../x',
  'chain-1 -> chain-2',
  'chain-2 -> chain-3/c',
  'chain-3 -> a/b',
  'loop-1 -> loop-2',
  'loop-2 -> loop-1',
  'loop-growing -> loop-growing/x',
  'dangling -> nowhere',
  'file-slash -> file/',
  'file-below -> file/x',
  'dir-slash -> a/b/',
  'dot -> .',
  'long -> $LONG',
];

const outcomes: readonly (readonly [path: string, outcome: string])[] = [
  ['.', '.'],
  ['a/b/c/f', 'a/b/c/f'],
  ['rel', 'a/b'],
  ['rel/c/f', 'a/b/c/f'],
  ['abs', 'a/b'],
  ['abs/c/f', 'a/b/c/f'],
  ['abs-file', 'a/b/c/f'],
  ['abs-root', '.'],
  ['abs-root/file', 'file'],
  ['abs-root-slash/file', 'file'],
  ['abs-odd/c', 'a/b/c'],
  ['abs-up', 'EXDEV'],
  ['abs-winding', 'EXDEV'],
  ['out-abs', 'EXDEV'],
  ['out-abs/passwd', 'EXDEV'],
  ['out-prefix', 'EXDEV'],
  ['out-up', 'EXDEV'],
  ['out-and-back', 'EXDEV'],
  ['a/up', 'file'],
  ['a/up-dir', '.'],
  ['a/up-dir/file', 'file'],
  ['a/up-dir-dot/a/up', 'file'],
  ['a/b/up-two/f', 'a/b/c/f'],
  ['rel/up-two/f', 'a/b/c/f'],
  ['a/b/up-three', 'EXDEV'],
  ['chain-1/f', 'a/b/c/f'],
  ['loop-1', 'ELOOP'],
  ['loop-growing', 'ELOOP'],
  ['dangling', 'ENOENT'],
  ['dangling/x', 'ENOENT'],
  ['missing', 'ENOENT'],
  ['file/x', 'ENOTDIR'],
  ['file-slash', 'ENOTDIR'],
  ['file-below', 'ENOTDIR'],
  ['dir-slash', 'a/b'],
  ['dir-slash/c/f', 'a/b/c/f'],
  ['dot/dot/dot/file', 'file'],
  ['long/x', 'ENAMETOOLONG'],
];

describe('resolving links by reading them', () => {
  it('R11: follows what stays inside to its canonical path, and nothing else', async () => {
    const room = await Room.open();
    const long = `${'./'.repeat(2047)}a`;
    const filled = tree.map((line) =>
      line.replace('$ROOT', room.path).replace('$NAME', basename(room.path)).replace('$LONG', long),
    );
    await makeTree(room.path, filled);
    const seen: (readonly [string, string])[] = [];
    for (const [path] of outcomes) seen.push([path, await resolve(room, path)]);
    expect(seen).toEqual(outcomes);
    // And for everything inside it is what realpath(3) says.
    for (const [path, outcome] of outcomes) {
      if (/^E[A-Z]+$/.test(outcome)) continue;
      const real = realpathSync(room.at(path));
      expect(real).toBe(outcome === '.' ? room.path : room.at(outcome));
    }
  });

  it.for([40, 41])('R11: follows 40 links as the kernel does, not 41: %i', async (count) => {
    const room = await Room.open();
    room.write('link-0');
    for (let index = 1; index <= count; index += 1)
      symlinkSync(`link-${index - 1}`, room.at(`link-${index}`));
    expect(await resolve(room, `link-${count}`)).toBe(count === 40 ? 'link-0' : 'ELOOP');
  });

  it('R11: an absolute link counts by the path that is given for the root, not by where the root is', async () => {
    const room = await Room.open();
    room.write('a/f');
    symlinkSync('/elsewhere/root/a/f', room.at('alias'));
    expect(await resolve(room, 'alias', '/elsewhere/root')).toBe('a/f');
    expect(await resolve(room, 'alias', '/elsewhere')).toBe('ENOENT');
    expect(await resolve(room, 'alias', '/elsewhere/roo')).toBe('EXDEV');
    expect(await resolve(room, 'alias', '/')).toBe('ENOENT');
    for (const wrong of ['relative', '', '/a/../b', '/a/', '/a\0'])
      expect(await resolve(room, 'a', wrong)).toBe('EINVAL');
  });

  it('R11: a path may be as deep as the kernel takes', async () => {
    const room = await Room.open();
    const deep = Array.from({ length: 1500 }, () => 'd').join('/');
    mkdirSync(room.at(deep), { recursive: true });
    symlinkSync(`${'../'.repeat(700)}d`, room.at(deep, 'up'));
    expect(await resolve(room, `${deep}/up`)).toBe(`${deep.slice(0, -1400)}/d`);
  });

  it.runIf(mayMount)('R11: magic links of procfs lead nowhere, whatever they point to', async () => {
    const room = await Room.open({ root: { allowMounts: true } });
    await mount(room.at('proc'), '-t', 'proc', 'proc');
    const own = `proc/${process.pid}`;
    for (const link of ['root', 'cwd', 'exe', 'fd/0', 'root/etc/passwd']) {
      expect(await resolve(room, `${own}/${link}`)).toBe('EXDEV');
    }
    // `self` is text like any link, and yet procfs makes it up for whoever asks.
    expect(await resolve(room, 'proc/self/status')).toBe('EXDEV');
    expect(await resolve(room, `${own}/status`)).toBe(`${own}/status`);
  });

  it.runIf(mayMount)('R11: a mount on which links are not to be followed is obeyed', async () => {
    const room = await Room.open({ root: { allowMounts: true } });
    await mount(room.at('m'), '-t', 'tmpfs', '-o', 'nosymfollow', 'tmpfs');
    room.write('m/f');
    symlinkSync('f', room.at('m/link'));
    expect(await resolve(room, 'm/link')).toBe('ELOOP');
  });

  it('R11: never leaves the root while directories and links are swapped', async () => {
    const room = await Room.open();
    room.write('a/b/f');
    symlinkSync('a/b/f', room.at('in'));
    symlinkSync('/etc', room.at('evil'));
    let running = true;
    const allowed = new Set(['a/b/f', 'EXDEV', 'ENOENT', 'ENOTDIR']);
    const swapping = (async () => {
      while (running) {
        renameSync(room.at('a'), room.at('real'));
        renameSync(room.at('evil'), room.at('a'));
        await new Promise(setImmediate);
        renameSync(room.at('a'), room.at('evil'));
        renameSync(room.at('real'), room.at('a'));
        await new Promise(setImmediate);
      }
    })();
    const seen = new Set<string>();
    for (let round = 0; round < 1500; round += 1) seen.add(await resolve(room, 'in'));
    running = false;
    await swapping;
    expect([...seen].filter((outcome) => !allowed.has(outcome))).toEqual([]);
    expect(seen.has('a/b/f')).toBe(true);
  });
});
