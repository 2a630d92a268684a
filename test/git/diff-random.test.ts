import { lstat, mkdir, readdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { applied, treeOfChanges } from '../support/apply-diff.ts';
import { git } from '../support/git.ts';
import { randomOf } from '../support/random-of.ts';
import { createDiffLab, type DiffLab } from './diff-lab.ts';

let lab: DiffLab;

beforeAll(async () => {
  lab = await createDiffLab();
});

afterAll(() => lab[Symbol.asyncDispose]());

/** Lines that a parser of patches could take for something else, and what is not UTF-8. */
const lines = [
  'plain',
  '',
  '-- a comment of SQL',
  '++ more',
  '--- a/f',
  '+++ b/f',
  'diff --git a/f b/f',
  '@@ -1 +1 @@',
  '\\ No newline at end of file',
  '\ttab ',
  'carriage\r',
  'Grüße \u{1f600}',
  'Binary files a/f and b/f differ',
  'rename from x',
].map((text) => Buffer.from(text));
lines.push(Buffer.from([0xe9, 0x20, 0xff]), Buffer.from('\u2028\x0c\x1b[31m'));

const names = [
  'f',
  'dir/f',
  'dir/g h',
  'dir/deep/f',
  'x b/y',
  ' b',
  'we"ird',
  'new\nline',
  'tab\tname',
  '--output=x',
  ':(top)x',
  'back\\slash',
  '한글 a.md',
  'HEAD',
  '*',
];

function content(random: (below: number) => number): Buffer {
  const parts: Buffer[] = [];
  for (let count = random(40); count > 0; count -= 1) {
    parts.push(lines[random(lines.length)] as Buffer, Buffer.from('\n'));
  }
  if (random(3) === 0) parts.push(Buffer.from('the end'));
  if (random(20) === 0) parts.push(Buffer.from('\0'));
  return Buffer.concat(parts);
}

async function edit(path: string, random: (below: number) => number): Promise<void> {
  const name = names[random(names.length)] as string;
  const file = join(path, name);
  const there = await lstat(file).catch(() => null);
  if (there?.isDirectory()) return;
  const kind = random(8);
  if (there !== null && kind === 0) return rm(file);
  if (there !== null && kind === 1) {
    const target = join(path, names[random(names.length)] as string);
    if (await lstat(target).catch(() => null)) return;
    await mkdir(dirname(target), { recursive: true });
    return rename(file, target);
  }
  await mkdir(dirname(file), { recursive: true });
  if (kind === 2) {
    await rm(file, { force: true });
    return symlink(lines[random(3)]?.toString() || 'nowhere', file);
  }
  if (there?.isSymbolicLink() || kind === 3) await rm(file, { force: true });
  await writeFile(file, content(random), { mode: random(4) === 0 ? 0o755 : 0o644 });
}

async function clear(path: string): Promise<void> {
  for (const name of await readdir(path))
    if (name !== '.git') await rm(join(path, name), { recursive: true });
}

const firstSeed = Number(process.env['DIFF_SEED'] ?? Date.now() % 1_000_000_000);
const seeds = Array.from(
  { length: Number(process.env['DIFF_ROUNDS'] ?? 12) },
  (_, index) => firstSeed + index,
);

describe('R20, W28, W29: what a diff says, applied by Git to the tree it is against, gives the tree it is of', () => {
  it.each(seeds)('after random edits with seed %i', { timeout: 60_000 }, async (seed) => {
    const random = randomOf(seed);
    const path = await lab.make(`random-${seed}`);
    for (let count = 0; count < 15; count += 1) await edit(path, random);
    await git(path, 'add', '-A');
    await git(path, 'commit', '-q', '--allow-empty', '-m', 'second');
    const [first, second] = [
      await git(path, 'rev-parse', 'HEAD^^{tree}'),
      await git(path, 'rev-parse', 'HEAD'),
    ];
    if (random(4) === 0) await clear(path);
    for (let count = 0; count < 15; count += 1) await edit(path, random);
    if (random(2) === 0) await git(path, 'add', '-A', '--', 'dir').catch(() => {});

    const { files } = await lab.diff(path);
    const now = await treeOfChanges(path);
    expect(await applied(path, 'HEAD', files, now)).toBe(now);

    await git(path, 'add', '-A');
    await git(path, 'commit', '-q', '--allow-empty', '-m', 'third');
    const third = (await git(path, 'rev-parse', 'HEAD')).trimEnd();
    const commit = await lab.commit(path, third);
    const tree = (await git(path, 'rev-parse', 'HEAD^{tree}')).trimEnd();
    expect(await applied(path, second.trimEnd(), commit.files, tree)).toBe(tree);
    const since = await lab.diff(path, {
      mode: 'base',
      base: (await git(path, 'rev-parse', 'HEAD^^')).trimEnd(),
    });
    expect(await applied(path, first.trimEnd(), since.files, tree)).toBe(tree);
  });
});
