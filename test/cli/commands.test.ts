import { mkdir, readdir, readFile, rename, unlink, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runCommandLine } from '../../src/cli/run.ts';
import { makeRepository } from '../support/http-lab.ts';
import { addOwnWorktree, addWorktree } from '../support/http-worktrees.ts';
import { temporaryDirectory } from '../support/state.ts';

/** A state directory and a place for workspaces, and the commands over them. */
async function place() {
  const sandbox = await temporaryDirectory();
  const state = join(sandbox, 'state');
  const app = join(sandbox, 'app');
  await mkdir(app);
  const run = async (...words: readonly string[]) => {
    const out: string[] = [];
    const err: string[] = [];
    const code = await runCommandLine([...words, '--state', state], {
      print: (line) => out.push(line),
      note: (line) => err.push(line),
    });
    return { code, out: out.join('\n'), err: err.join('\n') };
  };
  const json = async (...words: readonly string[]) => {
    const { code, out, err } = await run(...words, '--json');
    expect(err).toBe('');
    expect(out).not.toContain('\n');
    return { code, answer: JSON.parse(out) };
  };
  return { sandbox, state, app, run, json };
}

describe('workspaces', () => {
  it('add, list, confirm and remove say what they did', async () => {
    const { app, run } = await place();
    expect(await run('workspaces', 'list')).toEqual({ code: 0, out: '', err: '' });
    expect(await run('workspaces', 'add', app, '--title', 'The app')).toMatchObject({
      code: 0,
      out: `added ${app}`,
    });
    expect((await run('workspaces', 'list')).out).toBe(`${app}  (The app)`);
    expect((await run('workspaces', 'confirm', app)).out).toBe(`confirmed ${app}`);
    expect((await run('workspaces', 'remove', app)).out).toBe(`removed ${app}`);
    expect((await run('workspaces', 'list')).out).toBe('');
  });

  it('answer programs with the row, without its pinned identity', async () => {
    const { app, json } = await place();
    const { answer } = await json('workspaces', 'add', app, '--allow-mounts');
    expect(answer).toEqual({
      ok: true,
      workspace: {
        id: expect.any(String),
        path: app,
        title: null,
        allowMounts: true,
        registeredAt: expect.any(String),
      },
    });
    expect((await json('workspaces', 'list')).answer).toEqual({ ok: true, items: [answer.workspace] });
  });

  it('take a path as the shell does, relative to where they run', async () => {
    const { app, run } = await place();
    expect((await run('workspaces', 'add', relative(process.cwd(), app))).out).toBe(`added ${app}`);
    expect((await run('workspaces', 'remove', `${app}/`)).out).toBe(`removed ${app}`);
  });
});

describe('explain', () => {
  it('tells the facts in order, and exit code 0 means authorised', async () => {
    const { app, run, json } = await place();
    await run('workspaces', 'add', app);
    const { code, out } = await run('explain', app);
    expect(code).toBe(0);
    expect(out.split('\n').at(-1)).toBe(`authorised: ${app} as workspace, Git boundary none`);
    expect(out).toMatch(/^holds {2}registry row: /);
    expect((await json('explain', app)).answer).toMatchObject({ ok: true, authorized: true, refusal: null });
  });

  it.each([
    ['a directory that is not registered', (app: string) => `${app}-other`],
    ['a subdirectory', (app: string) => `${app}/sub`],
    ['a relative path, which it does not complete', () => 'app'],
  ])('R03: %s is exit code 1 with the fact that fails', async (_, selector) => {
    const { app, run, json } = await place();
    await mkdir(join(app, 'sub'));
    await run('workspaces', 'add', app);
    const { code, out } = await run('explain', selector(app));
    expect(code).toBe(1);
    expect(out).toMatch(/^FAILS /m);
    expect(out.split('\n').at(-1)).toBe('not authorised: workspace_not_authorized');
    expect((await json('explain', selector(app))).code).toBe(1);
  });
});

describe('explain of worktrees', () => {
  /** A registered main checkout with a linked and a managed worktree. */
  async function repository() {
    const { sandbox, state, run, json } = await place();
    const main = join(sandbox, 'main');
    await makeRepository(main);
    await run('workspaces', 'add', main);
    const linked = await addWorktree(main, join(sandbox, 'linked'), 'linked');
    const managed = await addOwnWorktree(main, join(state, 'worktrees'), 'managed', null);
    return { main, linked, managed, run, json };
  }

  it('R33: says what kind each is, and through which main checkout', async () => {
    const { main, linked, managed, run, json } = await repository();
    for (const [path, kind] of [
      [linked, 'linked-worktree'],
      [managed, 'managed-worktree'],
    ] as const) {
      const { code, out } = await run('explain', path);
      expect([code, out.split('\n').at(-1)]).toEqual([
        0,
        `authorised: ${path} as ${kind}, Git boundary root`,
      ]);
      expect(out).toContain(`holds  main checkout: ${main}\n`);
      expect((await json('explain', path)).answer).toMatchObject({
        ok: true,
        result: { kind, gitBoundary: 'root', root: path },
      });
    }
  });

  it('R32: without the row of its main checkout a worktree is refused, and that fact is named', async () => {
    const { main, linked, managed, run } = await repository();
    await run('workspaces', 'remove', main);
    for (const path of [linked, managed]) {
      const { code, out } = await run('explain', path);
      expect(code).toBe(1);
      expect(out).toContain('FAILS  row of the main checkout: none (expected: one)\n');
    }
  });

  it('R31: a worktree that its main checkout lists elsewhere is refused, and that fact is named', async () => {
    const { linked, run, json } = await repository();
    await rename(linked, `${linked}-moved`);
    const { code, out } = await run('explain', `${linked}-moved`);
    expect(code).toBe(1);
    expect(out).toContain('FAILS  worktree list: another or none (expected: this root)\n');
    expect((await json('explain', `${linked}-moved`)).answer).toMatchObject({
      ok: false,
      result: null,
      refusal: { code: 'workspace_not_authorized' },
    });
  });
});

describe('doctor', () => {
  it('is content with what works, and says what does not, with what to do', async () => {
    const { app, state, run, json } = await place();
    await run('workspaces', 'add', app);
    const healthy = await run('doctor');
    expect(healthy.code).toBe(0);
    expect(healthy.out).toContain(`${app}: authorised, atomic exchange supported`);
    await rename(app, `${app}-moved`);
    const sick = await run('doctor');
    expect(sick.code).toBe(1);
    expect(sick.out).toMatch(new RegExp(`failure ${app}: workspace_not_authorized\n +.*explain`));
    await unlink(join(state, 'registry.json'));
    const { code, answer } = await json('doctor');
    expect(code).toBe(1);
    expect(answer.ok).toBe(false);
    expect(answer.findings).toContainEqual({
      check: 'registry',
      outcome: 'failure',
      seen: 'registry_unavailable',
      advice: expect.stringContaining('registry.json'),
    });
  });
});

describe('recover', () => {
  it('R15: reports without touching in a dry run, then does it', async () => {
    const { app, run, json } = await place();
    await run('workspaces', 'add', app);
    // Made by process 1 of an earlier boot.
    const left = `.wa-${'a'.repeat(32)}.-.${'2'.repeat(16)}.1-1-1-00000000.=notes.txt.tmp`;
    await writeFile(join(app, left), '', { mode: 0o600 });
    const dry = await run('recover', '--dry-run');
    expect(dry).toMatchObject({ code: 0, err: '' });
    expect(dry.out).toContain(`would be removed: ${left}`);
    expect(await readdir(app)).toEqual([left]);
    const { code, answer } = await json('recover');
    expect(code).toBe(0);
    expect(answer.roots).toMatchObject([
      { root: app, report: { actions: [{ path: left, action: 'removed' }] } },
    ]);
    expect(await readdir(app)).toEqual([]);
    expect((await json('recover')).answer.roots).toMatchObject([{ report: { actions: [], complete: true } }]);
  });

  it('a root that cannot be used is named, the others are recovered, and the exit code is 1', async () => {
    const { sandbox, app, run } = await place();
    const other = join(sandbox, 'other');
    await mkdir(other);
    await run('workspaces', 'add', app);
    await run('workspaces', 'add', other);
    await rename(app, `${app}-moved`);
    const { code, out } = await run('recover');
    expect(code).toBe(1);
    expect(out).toContain(`${app}: The selector is not a registered workspace`);
    expect(out).toContain(`${other}: 1 directories examined`);
  });
});

describe('token rotate', () => {
  it('replaces the token and shows it to programs only', async () => {
    const { state, run, json } = await place();
    const { out } = await run('token', 'rotate');
    const first = (await readFile(join(state, 'token'), 'utf8')).trim();
    expect(out).toContain(join(state, 'token'));
    expect(out).not.toContain(first);
    const { answer } = await json('token', 'rotate');
    expect(answer).toEqual({ ok: true, token: expect.not.stringMatching(first), file: join(state, 'token') });
    expect((await readFile(join(state, 'token'), 'utf8')).trim()).toBe(answer.token);
  });
});
