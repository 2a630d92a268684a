import { chmod, lstat, mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

export type Random = (below: number) => number;

/** Files and directories want the same names now and then. */
const names = ['f', 'g', 'd', 'd/f', 'd/g h', 'd/deep/f', 'e/f', 'l'];

/** Changes some files of a checkout, as somebody might: whole ones, single lines, modes, kinds and names. */
export async function editAtRandom(root: string, random: Random, edits: number): Promise<void> {
  for (let edit = 0; edit < edits; edit += 1) {
    const name = pick(names, random);
    const path = join(root, name);
    const kind = random(8);
    // A file may lie where the directory would have to be.
    if (kind === 0) await rm(path, { recursive: true, force: true }).catch(() => undefined);
    else if (kind === 1) await moveTo(root, path, join(root, pick(names, random)));
    else if (kind === 2) await replace(root, path, () => symlink(`to-${random(3)}`, path));
    else if (kind === 3) await chmod(path, 0o755).catch(() => undefined);
    else if (kind === 4) await replace(root, path, () => writeFile(path, textOf(random)));
    else await changeLine(root, path, random);
  }
}

async function changeLine(root: string, path: string, random: Random): Promise<void> {
  const isFile = await lstat(path).then(
    (entry) => entry.isFile(),
    () => false,
  );
  if (!isFile) return replace(root, path, () => writeFile(path, textOf(random)));
  const lines = (await readFile(path, 'utf8')).split('\n');
  lines[random(lines.length)] = `line ${random(5)}`;
  await writeFile(path, lines.join('\n'));
}

/** Whatever is in the way goes. */
async function replace(root: string, path: string, make: () => Promise<void>): Promise<void> {
  await rm(path, { recursive: true, force: true }).catch(() => undefined);
  for (let parent = dirname(path); parent !== root; parent = dirname(parent)) {
    const entry = await lstat(parent).catch(() => null);
    if (entry !== null && !entry.isDirectory()) await rm(parent);
  }
  await mkdir(dirname(path), { recursive: true });
  await make();
}

async function moveTo(root: string, from: string, to: string): Promise<void> {
  const isThere = await lstat(from).then(
    () => true,
    () => false,
  );
  const isWithin = from === to || to.startsWith(`${from}/`) || from.startsWith(`${to}/`);
  if (isThere && !isWithin) await replace(root, to, () => rename(from, to));
}

function textOf(random: Random): string {
  return Array.from({ length: 12 }, (_, line) => `line ${line} ${random(4) === 0 ? random(9) : ''}\n`).join(
    '',
  );
}

function pick<Item>(items: readonly Item[], random: Random): Item {
  return items[random(items.length)] as Item;
}
