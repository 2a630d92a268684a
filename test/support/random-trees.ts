import { cp, lstat, mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import fc from 'fast-check';
import { git } from './git.ts';

/** Names below the place of one run; some lie in others. */
export const slots = ['a', 'b', 'c', 'a/in', 'b/in', 'w', 'w/in', 'x'] as const;
export type Slot = (typeof slots)[number];

const slot = fc.constantFrom(...slots);
/** Where repositories are made most often, so that they meet their worktrees. */
const repository = fc.constantFrom<Slot>('a', 'a', 'a', 'b', 'b', 'c', 'a/in');
const tree = fc.constantFrom<Slot>('w', 'w', 'x', 'x', 'a/in', 'b/in', 'w/in', 'c');

/** Repeated as often as each is worth it. */
const names = [
  ...(['add', 'add', 'init', 'plain', 'plain', 'plain'] as const),
  ...(['register', 'register', 'register', 'register tree', 'register below', 'register below'] as const),
  ...([
    'unregister',
    'unregister',
    'unregister main',
    'unregister main',
    'rename',
    'copy',
    'remove',
    'exchange',
    'link',
    'move',
    'prune',
    'repair',
  ] as const),
  ...(['lock', 'checkout', 'relate', 'steal', 'forge', 'claim'] as const),
] as const;

/** What somebody may do to a tree of repositories. One that is impossible where things stand does nothing. */
export interface Act {
  readonly name: (typeof names)[number];
  readonly repository: Slot;
  readonly tree: Slot;
  readonly from: Slot;
  readonly to: Slot;
  readonly index: number;
}

const act: fc.Arbitrary<Act> = fc.record({
  name: fc.constantFrom(...names),
  repository,
  tree,
  from: slot,
  to: slot,
  index: fc.nat({ max: 3 }),
});

const nothing = { to: 'c', index: 0 } as const;
/** With most of this most trees begin. */
const beginning: readonly Act[] = [
  { ...nothing, name: 'init', repository: 'a', tree: 'w', from: 'a' },
  { ...nothing, name: 'init', repository: 'b', tree: 'x', from: 'a' },
  { ...nothing, name: 'add', repository: 'a', tree: 'w', from: 'a' },
  { ...nothing, name: 'add', repository: 'a', tree: 'a/in', from: 'a' },
  { ...nothing, name: 'add', repository: 'b', tree: 'x', from: 'a' },
  { ...nothing, name: 'register', repository: 'a', tree: 'w', from: 'a' },
  { ...nothing, name: 'register', repository: 'b', tree: 'w', from: 'b' },
  { ...nothing, name: 'plain', repository: 'a', tree: 'w', from: 'a' },
  { ...nothing, name: 'register below', repository: 'a', tree: 'w', from: 'a' },
  { ...nothing, name: 'plain', repository: 'a', tree: 'w', from: 'c' },
  { ...nothing, name: 'register', repository: 'a', tree: 'w', from: 'c' },
];

/** Some stages, after each of which the tree is looked at. */
export const stages: fc.Arbitrary<readonly (readonly Act[])[]> = fc
  .tuple(
    fc.subarray([...beginning], { minLength: 8 }),
    fc.array(fc.array(act, { minLength: 2, maxLength: 8, size: 'max' }), {
      minLength: 1,
      maxLength: 4,
      size: 'max',
    }),
  )
  .map(([first, others]) => [first, ...others]);

/** Acts upon the registry are left to the caller. */
export async function perform(place: string, act: Act): Promise<void> {
  try {
    await performOrFail(place, act);
  } catch {
    // It was impossible.
  }
}

let branches = 0;

async function performOrFail(place: string, act: Act): Promise<unknown> {
  const [repository, tree, from, to] = [act.repository, act.tree, act.from, act.to].map((name) =>
    join(place, name),
  ) as [string, string, string, string];
  switch (act.name) {
    case 'init':
      await git('/', 'init', '--quiet', '--initial-branch=main', repository);
      return git(repository, 'commit', '--quiet', '--allow-empty', '-m', 'first');
    case 'add':
      branches += 1;
      return git(repository, 'worktree', 'add', '-q', '-b', `branch-${branches}`, tree);
    case 'plain':
      return mkdir(join(from, 'sub'), { recursive: true });
    case 'rename':
      return rename(from, to);
    case 'copy':
      await assertAbsent(to);
      return cp(from, to, { recursive: true, verbatimSymlinks: true });
    case 'remove':
      return rm(from, { recursive: true });
    case 'exchange':
      return exchange(from, to, join(place, 'aside'));
    case 'link':
      return symlink(to, from);
    case 'move':
      return git(repository, 'worktree', 'move', tree, to);
    case 'prune':
      return git(repository, 'worktree', 'prune', '--expire=now');
    case 'repair':
      return git(repository, 'worktree', 'repair', tree);
    case 'lock':
      return git(repository, 'worktree', 'lock', tree);
    case 'checkout':
      branches += 1;
      return git(from, 'checkout', '-q', ...(act.index === 0 ? ['--detach'] : ['-b', `other-${branches}`]));
    case 'relate':
      return relate(tree);
    case 'steal':
      return writeFile(join(to, '.git'), await readFile(join(tree, '.git')));
    case 'forge':
      return forge(repository, to, act.index);
    case 'claim': {
      const administration = await administrationAt(repository, act.index);
      return writeFile(join(administration, 'gitdir'), `${tree}/.git\n`);
    }
    default:
      return null;
  }
}

async function exchange(from: string, to: string, aside: string): Promise<void> {
  await rename(from, aside);
  try {
    await rename(to, from);
    await rename(aside, to);
  } catch {
    await rename(aside, from);
  }
}

async function assertAbsent(path: string): Promise<void> {
  if ((await lstat(path).catch(() => null)) !== null) throw new Error('exists');
}

/** Writes the pointer of a worktree relative, as a person may who moves both together. */
async function relate(path: string): Promise<void> {
  const pointer = (await readFile(join(path, '.git'), 'utf8')).slice('gitdir: '.length).trimEnd();
  await writeFile(join(path, '.git'), `gitdir: ${relative(path, pointer)}\n`);
}

async function forge(repository: string, to: string, index: number): Promise<void> {
  const named = await administrationAt(repository, index).catch(() => join(repository, '.git'));
  const text = index === 3 ? 'gitdir:x' : `gitdir: ${named}\n`;
  await mkdir(dirname(to), { recursive: true });
  await mkdir(to, { recursive: true });
  await writeFile(join(to, '.git'), text);
}

/** One of the administrative directories of a repository. */
async function administrationAt(repository: string, index: number): Promise<string> {
  const directory = join(repository, '.git/worktrees');
  const names = await readdir(directory);
  const name = names.sort()[index % names.length];
  if (name === undefined) throw new Error('none');
  return join(directory, name);
}
