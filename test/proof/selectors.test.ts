import { chown, mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { isAuthorityError } from '../../src/errors/index.ts';
import { answerOf } from '../support/answers.ts';
import { type AuthorityLab, createLab } from '../support/authority-lab.ts';
import { git, makeRepository } from '../support/git.ts';

const refused = 'workspace_not_authorized';
let lab: AuthorityLab;
let app: string;

beforeEach(async () => {
  lab = await createLab();
  await makeRepository(join(lab.place, 'app'));
  app = await lab.register('app');
});

afterEach(async () => {
  vi.unstubAllEnvs();
  await lab[Symbol.asyncDispose]();
});

function answer(selector: string): Promise<string> {
  return answerOf(lab.authority, selector);
}

/** The selector rows of the public bug reports, at this level; decisions of the project say the answer where they differ. */
const reports: Readonly<Record<string, (() => Promise<void>) | 'files' | 'http'>> = {
  'sel-prefix-sibling': async () => {
    await mkdir(`${app}-secret`);
    expect(await answer(`${app}-secret`)).toBe(refused);
    expect(await answer(app.slice(0, -1))).toBe(refused);
  },
  'sel-dotdot-sibling': 'files',
  'sel-open-by-default': async () => {
    lab.registry.rows.clear();
    for (const path of ['/etc', '/', app, lab.place])
      expect([path, await answer(path)]).toEqual([path, refused]);
  },
  'sel-header-directory': 'http',
  'sel-repeated-param': 'http',
  'sel-nul-and-control': async () => {
    for (const text of [`${app}\0/../../etc`, `${app}\n`, `${app}\x1b`]) {
      expect(await answer(text)).toBe('invalid_request: control character');
    }
  },
  'sel-tilde-env': async () => {
    vi.stubEnv('HOME', lab.place);
    for (const text of ['~/app', '$HOME/app', '~', 'app', './app', ''])
      expect(await answer(text)).toBe(refused);
  },
  'sel-root-swapped': async () => {
    expect(await answer(app)).toBe('root');
    await rename(app, join(lab.place, 'away'));
    await makeRepository(app);
    expect(await answer(app)).toBe(refused);
  },
  'sel-forged-gitfile': async () => {
    await mkdir(join(lab.place, 'evil'));
    await writeFile(join(lab.place, 'evil/.git'), `gitdir: ${app}/.git\n`);
    expect(await answer(join(lab.place, 'evil'))).toBe(refused);
    expect(await answer(await lab.register('evil'))).toBe('repository_unsupported: separate-git-dir');
  },
  'sel-gitdir-shape': async () => {
    const fake = join(lab.place, 'other/.git/worktrees/fake');
    await mkdir(fake, { recursive: true });
    await writeFile(join(fake, 'HEAD'), 'ref: refs/heads/main\n');
    await mkdir(join(lab.place, 'evil'));
    await writeFile(join(lab.place, 'evil/.git'), `gitdir: ${fake}\n`);
    expect(await answer(join(lab.place, 'evil'))).toBe(refused);
    expect(await answer(await lab.register('evil'))).toBe(
      'repository_unsupported: main-checkout-unsupported',
    );
  },
  'sel-moved-worktree': async () => {
    await git(app, 'worktree', 'add', '--quiet', '--detach', join(lab.place, 'W'));
    await rename(join(lab.place, 'W'), join(lab.place, 'W3'));
    expect(await answer(join(lab.place, 'W3'))).toBe(refused);
    expect(await answer(join(lab.place, 'W'))).toBe(refused);
  },
  'sel-newline-path': async () => {
    await mkdir(join(lab.place, 'w\nx'));
    expect(await answer(join(lab.place, 'w\nx'))).toBe('invalid_request: control character');
  },
  'sel-inherited-git-env': async () => {
    await makeRepository(join(lab.place, 'other'));
    vi.stubEnv('GIT_DIR', join(lab.place, 'other/.git'));
    vi.stubEnv('GIT_WORK_TREE', join(lab.place, 'other'));
    await using git = await createLab({ mode: 'both', place: lab.place });
    expect(await answerOf(git.authority, await git.register('app'))).toBe('root');
  },
  'sel-overlapping-roots': async () => {
    await mkdir(join(app, 'packages/x'), { recursive: true });
    expect(await answer(await lab.register('app/packages/x'))).toBe('nested');
    lab.registry.register(lab.place, { identity: (await lab.authority.survey(lab.place)).identity });
    expect([await answer(lab.place), await answer(app)]).toEqual(['none', 'root']);
  },
  'sel-foreign-owner': async () => {
    // Only the super-user can give a directory away.
    if (process.geteuid?.() !== 0) return;
    await mkdir(join(lab.place, 'foreign'));
    await chown(join(lab.place, 'foreign'), 65534, 65534);
    await expect(lab.authority.survey(join(lab.place, 'foreign'))).rejects.toMatchObject({
      code: 'workspace_not_registrable',
      details: { reason: 'foreign-owner' },
    });
  },
};

describe('selectors in public bug reports', () => {
  it('every selector row is answered here or where it belongs', async () => {
    const text = await readFile(new URL('../cases/public-bugs.json', import.meta.url), 'utf8');
    const rows = JSON.parse(text) as { id: string; area: string }[];
    const selectors = rows.filter(({ area }) => area === 'selector').map(({ id }) => id);
    expect(selectors.sort()).toEqual(Object.keys(reports).sort());
  });

  const here = Object.entries(reports).flatMap(([id, check]) =>
    typeof check === 'string' ? [] : [{ id, check }],
  );
  it.each(here)('R02, R03: $id', ({ check }) => check());
});

describe('the spelling of a selector', () => {
  it('R02: a registered root is one directory, however it is spelled', async () => {
    await symlink(app, join(lab.place, 'alias'));
    await symlink(lab.place, join(lab.place, 'around'));
    const spellings = [`${app}/`, `/${app}`, `${app}/.`, `${app}/./`, `${app}/../app`];
    for (const spelling of [...spellings, join(lab.place, 'alias'), join(lab.place, 'around/app')]) {
      await using capability = await lab.authority.authorize(spelling);
      expect([spelling, capability.root]).toEqual([spelling, app]);
    }
  });

  it('R03: nothing beside, above or below a registered root is a selector', async () => {
    await mkdir(join(app, 'sub'));
    await symlink(join(app, 'sub'), join(lab.place, 'into'));
    await writeFile(join(app, 'file'), '');
    for (const path of ['app/sub', 'app/file', 'app/.git', 'into', '.', '..', 'app/sub/..', 'APP', 'app ']) {
      const expected = path === 'app/sub/..' ? 'root' : refused;
      expect([path, await answer(`${lab.place}/${path}`)]).toEqual([path, expected]);
    }
  });

  it('R01: every refusal is the same, whether or not something stands there', async () => {
    await mkdir(join(lab.place, 'unregistered'));
    await writeFile(join(lab.place, 'file'), '');
    await mkdir(join(lab.place, 'gone'));
    const gone = await lab.register('gone');
    await rm(gone, { recursive: true });
    await mkdir(join(lab.place, 'swapped'));
    const swapped = await lab.register('swapped');
    await rename(swapped, `${swapped} away`);
    await mkdir(swapped);
    const selectors = [
      'unregistered',
      'absent',
      'file',
      'file/below',
      'absent/below',
      'gone',
      'swapped',
      'a'.repeat(300),
    ];
    const refusals = await Promise.all(
      [...selectors.map((name) => join(lab.place, name)), 'relative', `/${'x/'.repeat(3000)}`].map(
        async (selector) => {
          const error = await lab.authority.authorize(selector).catch((thrown: unknown) => thrown);
          if (!isAuthorityError(error)) throw error;
          const { code, message, details, legacy, status, retryable } = error;
          return JSON.stringify({ code, message, details, legacy, status, retryable });
        },
      ),
    );
    expect(new Set(refusals).size).toBe(1);
    expect(refusals[0]).toContain(refused);
  });

  it('R01: an absent and an unregistered directory cost the registry the same questions', async () => {
    await mkdir(join(lab.place, 'unregistered'));
    const costs: number[] = [];
    for (const name of ['unregistered', 'absent']) {
      const before = lab.registry.asked;
      await answer(join(lab.place, name));
      costs.push(lab.registry.asked - before);
    }
    expect(costs[0]).toBe(costs[1]);
  });
});

describe('repositories asked for by selector', () => {
  it('R03: only a Git root gives a repository; nested and plain directories say which they are', async () => {
    await mkdir(join(app, 'sub'));
    await mkdir(join(lab.place, 'plain'));
    await using capability = await lab.authority.authorizeRepository(app);
    expect(capability.repository.mainRoot).toBe(app);
    const asked = [await lab.register('app/sub'), await lab.register('plain'), join(lab.place, 'absent')];
    const codes = ['git_root_not_authorized', 'git_repository_required', refused];
    for (const [index, selector] of asked.entries()) {
      await expect(lab.authority.authorizeRepository(selector)).rejects.toMatchObject({ code: codes[index] });
    }
  });
});
