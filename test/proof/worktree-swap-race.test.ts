import { execFile } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RepositoryCapability } from '../../src/capability/repository-capability.ts';
import { readBranchFacts } from '../../src/git/branch-facts.ts';
import { refusalOf } from '../support/answers.ts';
import { createLab, makePlace } from '../support/authority-lab.ts';
import { buildExchanger, exchange } from '../support/exchanger.ts';
import { git, makeRepository } from '../support/git.ts';
import {
  addManagedWorktree,
  hashDirectoryOf,
  isManaged,
  type ManagedWorktree,
  managedRoots,
  type Version,
  writeMetadata,
} from '../support/managed-worktrees.ts';

const run = promisify(execFile);
const long = process.env['WORKSPACE_AUTHORITY_LONG'] === '1';
const tries = Number(process.env['WORKSPACE_AUTHORITY_RUNS'] ?? (long ? 20_000 : 300));
/** A proof takes some milliseconds; each hop is tried with an attacker much faster than that, about as fast, and slower. */
const pausesUs = [0, 2000, 20_000];

/** Everything of one checkout that must come together, or not at all. */
interface Whole {
  readonly root: bigint;
  readonly gitDirectory: bigint;
  readonly commonDirectory: bigint;
  readonly mainRoot: string;
  readonly branch: string;
  /** Title in the metadata where it is managed, else null. */
  readonly managed: string | null;
}

/** Two repositories, `first` and `second`, with one worktree each that has the same name in both administrations. */
interface Twins {
  readonly place: string;
  readonly first: ManagedWorktree;
  readonly second: ManagedWorktree;
}

interface Hop {
  readonly name: string;
  /** Only for worktrees of this version. */
  readonly version?: Version;
  /** Arranges the files, and names what is exchanged. */
  readonly arrange: (twins: Twins) => Promise<readonly [string, string]>;
  /** What may be granted for the path of the first worktree. */
  readonly wholes: (twins: Twins) => readonly Whole[];
}

function inodeOf(path: string): bigint {
  return statSync(path, { bigint: true }).ino;
}

/** As it is when nobody exchanges anything; `parts` come from the other one. */
function wholeOf({ path, administration, main }: ManagedWorktree, parts: Partial<Whole> = {}): Whole {
  const name = main.slice(dirname(main).length + 1);
  return {
    root: inodeOf(path),
    gitDirectory: inodeOf(administration),
    commonDirectory: inodeOf(join(main, '.git')),
    mainRoot: main,
    branch: `branch-of-${name}`,
    managed: name,
    ...parts,
  };
}

/** The second administration, too, names the first worktree as its own, as whoever owns both repositories can arrange. */
async function claimFirst({ first, second }: Twins): Promise<void> {
  await writeFile(join(second.administration, 'gitdir'), `${first.path}/.git\n`);
}

const hops: readonly Hop[] = [
  {
    name: 'the .git files of two worktrees, one of which claims the other',
    arrange: async (twins) => {
      await claimFirst(twins);
      return [join(twins.first.path, '.git'), join(twins.second.path, '.git')];
    },
    wholes: ({ first, second }) => [
      wholeOf(first),
      wholeOf(second, { root: inodeOf(first.path), managed: null }),
    ],
  },
  {
    name: 'the .git files of two worktrees',
    arrange: async ({ first, second }) => [join(first.path, '.git'), join(second.path, '.git')],
    wholes: ({ first }) => [wholeOf(first)],
  },
  {
    name: 'the administrative directories, both of which claim the worktree',
    arrange: async (twins) => {
      await claimFirst(twins);
      return [twins.first.administration, twins.second.administration];
    },
    wholes: ({ first, second }) => {
      const { gitDirectory, branch } = wholeOf(second);
      return [wholeOf(first), wholeOf(first, { gitDirectory, branch, managed: null })];
    },
  },
  {
    name: 'the administrative directories',
    arrange: async ({ first, second }) => [first.administration, second.administration],
    wholes: ({ first }) => [wholeOf(first)],
  },
  {
    name: 'the pointers back',
    arrange: async ({ first, second }) => [
      join(first.administration, 'gitdir'),
      join(second.administration, 'gitdir'),
    ],
    wholes: ({ first }) => [wholeOf(first)],
  },
  {
    name: 'the pointers to the common directory',
    arrange: async ({ first, second }) => {
      await writeFile(join(second.administration, 'commondir'), `${second.main}/.git\n`);
      return [join(first.administration, 'commondir'), join(second.administration, 'commondir')];
    },
    wholes: ({ first }) => [wholeOf(first)],
  },
  {
    name: 'the main checkouts, both of which claim the worktree',
    arrange: async (twins) => {
      await claimFirst(twins);
      return [twins.first.main, twins.second.main];
    },
    wholes: ({ first, second }) => [
      wholeOf(first),
      wholeOf(second, { root: inodeOf(first.path), mainRoot: first.main, managed: null }),
    ],
  },
  {
    name: 'the Git directories of the main checkouts, both of which claim the worktree',
    arrange: async (twins) => {
      await claimFirst(twins);
      return [join(twins.first.main, '.git'), join(twins.second.main, '.git')];
    },
    wholes: ({ first, second }) => [
      wholeOf(first),
      wholeOf(second, { root: inodeOf(first.path), mainRoot: first.main, managed: null }),
    ],
  },
  {
    name: 'the roots of the worktrees, one of which is claimed under the path of the other',
    arrange: async (twins) => {
      await claimFirst(twins);
      return [twins.first.path, twins.second.path];
    },
    wholes: ({ first, second }) => [wholeOf(first), wholeOf(second, { managed: null })],
  },
  {
    name: 'the metadata of two worktrees',
    version: 2,
    arrange: async ({ first, second }) => [first.metadata, second.metadata],
    wholes: ({ first }) => [wholeOf(first), wholeOf(first, { managed: null })],
  },
  {
    name: 'the owner records of two hash directories',
    version: 2,
    arrange: async ({ first, second }) => [first.record, second.record],
    wholes: ({ first }) => [wholeOf(first), wholeOf(first, { managed: null })],
  },
  {
    name: 'the hash directories, whose worktrees have one name',
    version: 2,
    arrange: async (twins) => {
      await claimFirst(twins);
      return [twins.first.hashDirectory, twins.second.hashDirectory];
    },
    wholes: ({ first, second }) => [wholeOf(first), wholeOf(second, { managed: null })],
  },
];

/**
 * Refusals that tell of a change, or of a state in which the worktree is none of the main checkout's. `busy` is the kernel's EAGAIN, which a
 * storm of renames anywhere brings about (openat2(2)).
 */
const allowed = new Set([
  'workspace_not_authorized',
  'busy',
  'busy: repository',
  'identity_changed: git dir',
  'identity_changed: common dir',
  'identity_changed: main checkout',
]);
const allowedUnsupported = /^repository_unsupported: (worktree-not-listed|prover-disagrees)$/;
/** What a worktree with a row of its own may be told besides: its refusals are not hidden. A main checkout that moved is none. */
const allowedWithRow = /^repository_unsupported: main-checkout-unsupported$/;

let programs: string;
let exchanger: string;

beforeAll(async () => {
  programs = await makePlace();
  exchanger = buildExchanger(programs);
});

afterAll(async () => {
  await rm(programs, { recursive: true, force: true });
});

async function makeTwins(place: string, version: Version): Promise<Twins> {
  const make = async (name: string): Promise<ManagedWorktree> => {
    const main = join(place, name);
    await makeRepository(main);
    const worktree = await addManagedWorktree(
      place,
      version,
      main,
      join(hashDirectoryOf(place, version, main), 'tree'),
    );
    await git(worktree.path, 'checkout', '-q', '-b', `branch-of-${name}`);
    await writeMetadata(worktree, { sourceTitle: name });
    return worktree;
  };
  return { place, first: await make('first'), second: await make('second') };
}

async function look(capability: RepositoryCapability): Promise<Whole> {
  const { held, repository } = capability;
  const head = await repository.gitDirectory.openFile('HEAD', null);
  const text = Buffer.from(await head.readAt(0, 100)).toString();
  head.close();
  return {
    root: held.identity.inode,
    gitDirectory: repository.gitDirectory.identity().inode,
    commonDirectory: repository.commonDirectory.identity().inode,
    mainRoot: repository.mainRoot,
    branch: text.trim().replace('ref: refs/heads/', ''),
    managed: isManaged(capability) ? capability.managed.sourceTitle : null,
  };
}

describe.each<readonly [string, Version]>([
  ['a linked worktree', 1],
  ['a linked worktree with a row', 1],
  ['a worktree managed by version 1', 1],
  ['a worktree managed by version 2', 2],
])('%s, while another process exchanges', (kind, version) => {
  const linked = kind.startsWith('a linked worktree');
  const registered = kind.endsWith('with a row');
  const rows = hops.filter((hop) => hop.version === undefined || (!linked && hop.version === version));

  it.each(rows)('R06, R31: $name: whatever is granted is whole', async ({ arrange, wholes }) => {
    const place = await makePlace();
    await using lab = await createLab({ place, managedRoots: linked ? [] : managedRoots(place) });
    const twins = await makeTwins(place, version);
    // Without a pinned identity: whichever main checkout stands under the name is the registered one.
    for (const { main } of [twins.first, twins.second]) lab.registry.register(main);
    if (registered) lab.registry.register(twins.first.path);
    const names = await arrange(twins);
    const granted = wholes(twins).map((whole) => (linked ? { ...whole, managed: null } : whole));
    const outcomes = new Map<string, number>();
    const count = (outcome: string) => outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    for (const longestUs of pausesUs) {
      await using _ = await exchange(exchanger, names, longestUs);
      for (let round = 0; round < tries / pausesUs.length; round += 1) {
        try {
          await using capability = await lab.authority.authorizeRepository(twins.first.path);
          const whole = await look(capability);
          expect(granted).toContainEqual(whole);
          if (round % 10 === 0) {
            const { branch } = await readBranchFacts(capability, lab.git);
            expect(granted).toContainEqual({ ...whole, branch });
          }
          count(`granted ${whole.branch} ${whole.managed}`);
        } catch (error) {
          count(refusalOf(error));
        }
      }
    }
    const kinds = [...outcomes.keys()];
    const granting = kinds.filter((outcome) => outcome.startsWith('granted'));
    const refusing = kinds.filter((outcome) => !granting.includes(outcome));
    const isAllowed = (outcome: string) =>
      allowed.has(outcome) ||
      allowedUnsupported.test(outcome) ||
      (registered && allowedWithRow.test(outcome));
    expect(refusing.filter((outcome) => !isAllowed(outcome))).toEqual([]);
    // Whoever exchanges met the proofs: they saw more than one state.
    expect(granting).not.toEqual([]);
    expect(kinds.length).toBeGreaterThan(1);
    await rm(place, { recursive: true, force: true });
  });
});

/** What a prover that goes by paths would believe: the file says which repository, then Git says where in it. */
async function believeByPath(path: string): Promise<string | null> {
  try {
    const pointer = readFileSync(join(path, '.git'), 'utf8').trim().replace('gitdir: ', '');
    const main = dirname(dirname(dirname(pointer)));
    const claimed = inodeOf(main);
    const git = await run('git', ['rev-parse', '--show-toplevel', '--symbolic-full-name', 'HEAD'], {
      cwd: path,
    });
    const [root, branch] = git.stdout.trimEnd().split('\n');
    if (root !== path || inodeOf(main) !== claimed) return null;
    return `${claimed} ${inodeOf(join(main, '.git'))} ${branch}`;
  } catch {
    return null;
  }
}

describe('a prover that goes by paths, in the same races', () => {
  const rows = hops.filter(({ name }) => /^the (\.git files|main|Git|roots).*claim/.test(name));

  it.each(rows)('R06: is fooled: $name', async ({ arrange }) => {
    const place = await makePlace();
    const twins = await makeTwins(place, 1);
    const truths = [twins.first, twins.second].map(({ main }) => {
      const name = main.slice(dirname(main).length + 1);
      return `${inodeOf(main)} ${inodeOf(join(main, '.git'))} refs/heads/branch-of-${name}`;
    });
    const names = await arrange(twins);
    const fooled = new Set<string>();
    {
      await using _ = await exchange(exchanger, names, 2000);
      for (const until = performance.now() + 30_000; fooled.size === 0 && performance.now() < until; ) {
        const believed = await believeByPath(twins.first.path);
        if (believed !== null && !truths.includes(believed)) fooled.add(believed);
      }
    }
    expect(fooled.size).toBe(1);
    await rm(place, { recursive: true, force: true });
  });
});
