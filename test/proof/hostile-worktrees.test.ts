import { execFile } from 'node:child_process';
import { chown, cp, mkdir, readFile, rename, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { nodegitState } from '../../scripts/nodegit.mjs';
import type { ProverQuestion, RepositoryProver } from '../../src/proof/prover.ts';
import type { NodegitState, ProverMode } from '../../src/proof/provers.ts';
import { grantOf } from '../support/answers.ts';
import { type AuthorityLab, createLab } from '../support/authority-lab.ts';
import { git, makeRepository } from '../support/git.ts';
import { descendants } from '../support/processes.ts';
import { peakGrowth } from '../support/resident-memory.ts';
import { createWorktreeLab, linkedRoot, refused, type WorktreeLab } from '../support/worktree-lab.ts';

const run = promisify(execFile);
const isRoot = process.geteuid?.() === 0;
const nobody = 65534;
/** Found before the environment is changed: it is looked for below HOME. */
const nodegit = nodegitState() as NodegitState;
const mebibyte = 1024 * 1024;

afterEach(() => {
  vi.unstubAllEnvs();
});

function unsupported(reason: string): string {
  return `repository_unsupported: ${reason}`;
}

/** What is put in the place of a file. */
const attacks = {
  'a FIFO': async (path: string) => {
    await rm(path, { force: true });
    await run('mkfifo', [path]);
  },
  '3 GB': async (path: string) => {
    await writeFile(path, '');
    await truncate(path, 3 * 1024 * mebibyte);
  },
  'a link to what it was': async (path: string) => {
    await rename(path, `${path} kept`);
    await symlink(`${path} kept`, path);
  },
  'a directory': async (path: string) => {
    await rm(path, { force: true });
    await mkdir(path);
  },
  'the file of another user': (path: string) => chown(path, nobody, nobody),
} as const;

type Attack = keyof typeof attacks;

interface Target {
  readonly file: string;
  readonly path: (room: WorktreeLab) => string;
  /** Whether the main checkout has claimed the directory before the file is looked at; until then a caller learns nothing. */
  readonly claimed: boolean;
  /** Whether what was granted before rests on nothing in this file. */
  readonly beside?: true;
  /** The reason for each attack, with a row. */
  readonly reasons: Readonly<Record<Attack, string>>;
}

const usual: Target['reasons'] = {
  'a FIFO': 'admin-file-irregular',
  '3 GB': 'admin-file-too-large',
  'a link to what it was': 'admin-file-irregular',
  'a directory': 'admin-file-irregular',
  'the file of another user': 'foreign-owner',
};

const ofMain: Target['reasons'] = {
  'a FIFO': 'main-checkout-unsupported',
  '3 GB': 'main-checkout-unsupported',
  'a link to what it was': 'main-checkout-unsupported',
  'a directory': 'main-checkout-unsupported',
  'the file of another user': 'main-checkout-unsupported',
};

const targets: readonly Target[] = [
  {
    file: '.git',
    path: ({ tree }) => join(tree, '.git'),
    claimed: false,
    reasons: {
      ...usual,
      'a FIFO': 'git-entry-irregular',
      '3 GB': 'git-file-malformed',
      'a link to what it was': 'git-entry-irregular',
      // An empty one, which is no Git directory.
      'a directory': 'git-directory-incomplete',
    },
  },
  { file: 'gitdir', path: inAdministration('gitdir'), claimed: false, reasons: usual },
  { file: 'commondir', path: inAdministration('commondir'), claimed: true, reasons: usual },
  { file: 'HEAD', path: inAdministration('HEAD'), claimed: true, reasons: usual },
  { file: 'config.worktree', path: inAdministration('config.worktree'), claimed: true, reasons: usual },
  { file: 'locked', path: inAdministration('locked'), claimed: true, beside: true, reasons: usual },
  { file: 'main config', path: ({ main }) => join(main, '.git/config'), claimed: false, reasons: ofMain },
  { file: 'main HEAD', path: ({ main }) => join(main, '.git/HEAD'), claimed: false, reasons: ofMain },
];

function inAdministration(name: string): Target['path'] {
  return ({ administration }) => join(administration, name);
}

const names = (Object.keys(attacks) as Attack[]).filter((name) => isRoot || !name.includes('another user'));
const rows = targets.flatMap((target) => names.map((attack) => ({ ...target, attack })));

/** Notes what the prover is asked about worktrees. */
function watched(prover: RepositoryProver, asked: string[]): RepositoryProver {
  return {
    prove(question: ProverQuestion, signal?: AbortSignal) {
      if (question.worktree !== null) asked.push(question.path);
      return prover.prove(question, signal);
    },
  };
}

describe('a file that would stop, bloat or mislead a prover', () => {
  let provers: AuthorityLab;

  beforeAll(async () => {
    provers = await createLab({ mode: 'nodegit' });
  });

  afterAll(async () => {
    await provers[Symbol.asyncDispose]();
  });

  it.each(rows)('R04, R34: $attack as $file: no prover is sent there', async (row) => {
    const { attack, path, claimed, beside, reasons } = row;
    const asked: string[] = [];
    await using room = await createWorktreeLab({ prover: watched(provers.provers, asked) });
    // So that there is something to link to or to give away.
    for (const name of ['config.worktree', 'locked']) await writeFile(join(room.administration, name), '');
    expect([await room.grant(), asked]).toEqual([linkedRoot, [room.tree]]);
    await attacks[attack](path(room));
    const expected = unsupported(reasons[attack]);
    const unregistered = claimed ? expected : refused;
    let seen: string[] = [];
    const growth = await peakGrowth(['self', ...descendants()], async () => {
      const without = await room.grant();
      await room.lab.register('tree');
      seen = [without, await room.grant()];
    });
    expect(seen).toEqual([beside ? linkedRoot : unregistered, expected]);
    expect(asked).toEqual([room.tree]);
    expect(growth).toBeLessThan(64 * mebibyte);
  });

  it('R04: the measure sees what a prover does with such a file', async () => {
    const growth = await peakGrowth(['self'], async () => Buffer.alloc(100 * mebibyte, 1));
    expect(growth).toBeGreaterThan(64 * mebibyte);
  });
});

describe.each<ProverMode>(['nodegit', 'git', 'both'])('an environment that misleads, prover %s', (mode) => {
  async function mislead({ lab }: WorktreeLab): Promise<void> {
    const home = join(lab.place, 'home');
    await mkdir(home, { recursive: true });
    await writeFile(join(home, '.gitconfig'), '[safe]\n\tdirectory = *\n');
    await makeRepository(join(lab.place, 'decoy'));
    vi.stubEnv('SUDO_UID', String(nobody));
    vi.stubEnv('HOME', home);
    vi.stubEnv('XDG_CONFIG_HOME', home);
    vi.stubEnv('GIT_CONFIG_GLOBAL', join(home, '.gitconfig'));
    vi.stubEnv('GIT_CONFIG_COUNT', '1');
    vi.stubEnv('GIT_CONFIG_KEY_0', 'safe.directory');
    vi.stubEnv('GIT_CONFIG_VALUE_0', '*');
    vi.stubEnv('GIT_CONFIG_PARAMETERS', "'core.worktree'='/'");
    vi.stubEnv('GIT_DIR', join(lab.place, 'decoy/.git'));
    vi.stubEnv('GIT_COMMON_DIR', join(lab.place, 'decoy/.git'));
    vi.stubEnv('GIT_WORK_TREE', join(lab.place, 'decoy'));
    vi.stubEnv('GIT_DISCOVERY_ACROSS_FILESYSTEM', '1');
    vi.stubEnv('GIT_CEILING_DIRECTORIES', '/');
  }

  it('R31: takes nothing from an honest worktree', async () => {
    await using room = await createWorktreeLab({ mode, nodegitState: () => nodegit });
    await mislead(room);
    expect(await room.grant()).toBe(linkedRoot);
    expect(await room.grant(room.main)).toBe('workspace root');
  });

  const foreign: readonly (readonly [what: string, (room: WorktreeLab) => string, answer: string])[] = [
    ['the worktree', ({ tree }) => tree, unsupported('foreign-owner')],
    ['its .git', ({ tree }) => join(tree, '.git'), refused],
    [
      'its administrative directory',
      ({ administration }) => administration,
      // Whether the directory lists the worktree is read before whose it is.
      unsupported('foreign-owner'),
    ],
    ['the main checkout', ({ main }) => main, refused],
    ['the common dir', ({ main }) => join(main, '.git'), refused],
    ['the common configuration', ({ main }) => join(main, '.git/config'), refused],
  ];

  it.runIf(isRoot).each(foreign)('R04: lends no worktree when another user owns %s', async (...row) => {
    const [_, path, answer] = row;
    await using room = await createWorktreeLab({ mode, nodegitState: () => nodegit });
    expect(await room.grant()).toBe(linkedRoot);
    await chown(path(room), nobody, nobody);
    await mislead(room);
    expect(await room.grant()).toBe(answer);
  });
});

describe('names that two byte strings could share', () => {
  it.each<ProverMode>(['nodegit', 'git', 'both'])(
    'R34: prover %s: U+FFFD never stands for the byte 0xFF of a worktree',
    async (mode) => {
      await using room = await createWorktreeLab({ mode });
      const pair = join(room.lab.place, 'pair');
      const script =
        'honest="$1$(printf "\\377")/far"; git worktree add -q --detach "$honest"; cat "$honest/.git"';
      const environment = { PATH: '/usr/bin:/bin', HOME: '/nonexistent' };
      const { stdout } = await run('sh', ['-c', script, 'sh', pair], { cwd: room.main, env: environment });
      // Nothing in this file tells the two apart; only the administration does.
      expect(stdout).toBe(`gitdir: ${room.main}/.git/worktrees/far\n`);
      const impostor = `${pair}\ufffd/far`;
      expect(await room.grant(impostor)).toBe(refused);
      await mkdir(impostor, { recursive: true });
      await writeFile(join(impostor, '.git'), stdout);
      expect(await room.grant(impostor)).toBe(refused);
      await room.lab.register('pair\ufffd/far');
      expect(await room.grant(impostor)).toBe(unsupported('worktree-not-listed'));
      // The honest ones beside it are not harmed.
      expect(await room.grant()).toBe(linkedRoot);
    },
  );

  it('R34: U+FFFD never stands for the byte 0xFF of a main checkout', async () => {
    await using room = await createWorktreeLab({ mode: 'nodegit' });
    const impostor = join(room.lab.place, 'main\ufffd');
    await cp(room.main, impostor, { recursive: true });
    await room.lab.register('main\ufffd');
    const text = Buffer.concat([
      Buffer.from(`gitdir: ${room.main}`),
      Buffer.from([0xff]),
      Buffer.from('/.git/worktrees/tree\n'),
    ]);
    await writeFile(join(room.tree, '.git'), text);
    expect(await room.grant()).toBe(refused);
    await writeFile(join(room.tree, '.git'), `gitdir: ${impostor}/.git/worktrees/tree\n`);
    expect(await room.grant()).toBe(refused);
  });

  it('R34: nothing behind NUL is read, and nothing before it believed', async () => {
    await using room = await createWorktreeLab({ mode: 'nodegit' });
    const { tree, administration, lab } = room;
    expect(await room.grant(`${tree}\0`)).toBe('invalid_request: control character');
    expect(await room.grant(`${tree}\0/../..`)).toBe('invalid_request: control character');
    const files = ['gitdir', 'commondir', 'HEAD'].map((name) => join(administration, name));
    for (const file of [join(tree, '.git'), ...files]) {
      const honest = await readFile(file, 'utf8');
      for (const text of [honest.replace('\n', '\0\n'), honest.replace('\n', '\0x\n'), `${honest}\0`]) {
        await writeFile(file, text);
        expect([file, await room.grant()]).toEqual([
          file,
          expect.stringMatching(/^(workspace_not_authorized|repository_unsupported: (worktree|head))/),
        ]);
      }
      await writeFile(file, honest);
      expect([file, await room.grant()]).toEqual([file, linkedRoot]);
    }
    expect(lab.registry.rows.size).toBe(1);
  });
});

describe('files of a sibling, which Git reads with its whole list', () => {
  it.each(['gitdir', 'HEAD', 'locked'])(
    'R04: a %s of 3 GB ends Git by its limit of memory, before its deadline, and is no yes',
    async (file) => {
      await using room = await createWorktreeLab({ mode: 'git' });
      await room.addWorktree('sibling');
      expect(await room.grant()).toBe(linkedRoot);
      await attacks['3 GB'](join(room.main, '.git/worktrees/sibling', file));
      await using fresh = await createLab({ mode: 'git', place: room.lab.place });
      await fresh.register('main');
      expect(await grantOf(fresh.authority, room.tree)).toMatch(/prover-disagrees|workspace_not_authorized/);
    },
  );
});

describe('what was made up', () => {
  it('R34: a chain of worktrees that name each other as main checkouts ends', async () => {
    await using room = await createWorktreeLab({ mode: 'nodegit' });
    const { place } = room.lab;
    for (const [name, next] of [
      ['a', 'b'],
      ['b', 'a'],
      ['self', 'self'],
    ]) {
      await mkdir(join(place, `${name}`));
      await writeFile(join(place, `${name}`, '.git'), `gitdir: ${place}/${next}/.git/worktrees/x\n`);
    }
    for (const name of ['a', 'b', 'self']) expect(await room.grant(join(place, name))).toBe(refused);
    for (const name of ['a', 'b', 'self']) {
      await room.lab.register(name);
      expect(await room.grant(join(place, name))).toMatch(
        /^(repository_unsupported: main-checkout|workspace_n)/,
      );
    }
  });

  it('R34: an administrative directory forged outside the main checkout is no row', async () => {
    await using room = await createWorktreeLab({ mode: 'nodegit' });
    const { lab, main, administration } = room;
    const forged = join(lab.place, 'forged/.git/worktrees/tree');
    await mkdir(join(lab.place, 'evil'));
    await cp(administration, forged, { recursive: true });
    await writeFile(join(forged, 'commondir'), `${main}/.git\n`);
    await writeFile(join(forged, 'gitdir'), `${lab.place}/evil/.git\n`);
    await writeFile(join(lab.place, 'evil/.git'), `gitdir: ${forged}\n`);
    const evil = join(lab.place, 'evil');
    expect(await room.grant(evil)).toBe(refused);
    // Not even when the directory that pretends to be the main checkout has a row.
    await lab.register('forged');
    expect(await room.grant(evil)).toBe(refused);
    await git(main, 'worktree', 'list');
    expect(await room.grant()).toBe(linkedRoot);
  });
});
