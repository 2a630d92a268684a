import { chmod, mkdir, rename, rm, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { native } from '../support/addon.ts';
import { answerOf, refusalOf } from '../support/answers.ts';
import { type CountingLab, createCountingLab } from '../support/counting-lab.ts';
import { git, makeRepository } from '../support/git.ts';
import { openDescriptors } from '../support/processes.ts';

let room: CountingLab;

beforeEach(async () => {
  room = await createCountingLab();
});

afterEach(async () => {
  await room.lab[Symbol.asyncDispose]();
});

function unsupported(reason: string): string {
  return `repository_unsupported: ${reason}`;
}

describe('the cache of proven workspaces', () => {
  it('keeps at most as many as it may, and answers for all', async () => {
    await using small = await room.beside({ capacity: 3 });
    const roots: string[] = [];
    for (let index = 0; index < 10; index += 1) {
      await mkdir(join(room.lab.place, `many/${index}`), { recursive: true });
      roots.push(await small.register(`many/${index}`));
    }
    await answerOf(small.authority, roots[0] as string);
    const perWorkspace = native.openHandles();
    for (const root of [...roots, ...roots]) expect(await answerOf(small.authority, root)).toBe('none');
    const answers = await Promise.all([...roots, ...roots].map((root) => answerOf(small.authority, root)));
    expect(new Set(answers)).toEqual(new Set(['none']));
    expect(native.openHandles() - perWorkspace).toBeLessThanOrEqual(2 * 2);
  });

  it('R06: a capability outlives its place in the cache', async () => {
    await using small = await room.beside({ capacity: 1 });
    await using held = await small.authority.authorizeRepository(room.repository);
    expect(await answerOf(small.authority, room.plain)).toBe('none');
    await held.assertCurrent();
    expect(held.repository.gitDirectory.descriptorPath()).toMatch(/^\/proc\/\d+\/fd\/\d+$/);
    await git(room.repository, 'config', 'user.name', 'x');
    await held.assertCurrent();
    await rename(join(room.repository, '.git'), join(room.repository, 'x'));
    await expect(held.assertCurrent()).rejects.toMatchObject({
      code: 'identity_changed',
      details: { what: 'git dir' },
    });
  });

  it('many who ask for one repository at once share one proof', async () => {
    const answers = await Promise.all(Array.from({ length: 64 }, () => room.answer(room.repository)));
    expect(new Set(answers)).toEqual(new Set(['root']));
    expect(room.prover.asked).toBe(1);
  });

  it('one of them that goes away takes nobody along', async () => {
    const leaving = new AbortController();
    const left = answerOf(room.lab.authority, room.repository, leaving.signal);
    const staying = room.answer(room.repository);
    leaving.abort(new Error('gone'));
    expect(await left).toBe('aborted');
    expect(await staying).toBe('root');
    expect(await answerOf(room.lab.authority, room.repository, leaving.signal)).toBe('aborted');
  });

  it('descriptors are back where they were after thousands of authorisations', async () => {
    const before = { handles: native.openHandles(), descriptors: openDescriptors() };
    const busy = await room.beside();
    for (let round = 0; round < 300; round += 1) {
      // Each round is partly cold: the configuration is another one.
      if (round % 10 === 0) await git(room.repository, 'config', 'x.y', String(round));
      const selectors = [
        room.plain,
        room.repository,
        join(room.lab.place, 'absent'),
        join(room.repository, 'a'),
      ];
      await Promise.all(
        [...selectors, ...selectors, ...selectors].map((selector) => answerOf(busy.authority, selector)),
      );
    }
    const held = await busy.authority.authorizeRepository(room.repository);
    await busy[Symbol.asyncDispose]();
    // What was lent stays open until it is given back.
    expect(native.openHandles()).toBeGreaterThan(before.handles);
    await held[Symbol.asyncDispose]();
    expect({ handles: native.openHandles(), descriptors: openDescriptors() }).toEqual(before);
  });

  it('a closed authority answers nothing', async () => {
    await room.answer(room.plain);
    await room.lab.authority.close();
    expect(await room.answer(room.plain)).toBe('shutting_down');
    await expect(room.lab.authority.explain(room.plain)).resolves.toMatchObject({
      refusal: { code: 'shutting_down' },
    });
  });
});

describe('a capability in use', () => {
  it('R05, R06: is re-proven against the row, the root, the Git directory and the configuration', async () => {
    await using held = await room.lab.authority.authorizeRepository(room.repository);
    const outcome = () => held.assertCurrent().then(() => 'current', refusalOf);
    expect(await outcome()).toBe('current');
    await git(room.repository, 'checkout', '-q', '-b', 'x');
    expect([await outcome(), room.prover.asked]).toEqual(['current', 1]);
    await git(room.repository, 'config', 'user.name', 'x');
    expect([await outcome(), room.prover.asked]).toEqual(['current', 2]);
    await git(room.repository, 'config', 'core.worktree', '/');
    expect(await outcome()).toBe(unsupported('core-worktree'));
    await git(room.repository, 'config', '--unset', 'core.worktree');
    expect(await outcome()).toBe('current');
    await rename(join(room.repository, '.git'), join(room.lab.place, 'kept'));
    await makeRepository(room.repository);
    expect(await outcome()).toBe('identity_changed: git dir');
    await rm(join(room.repository, '.git'), { recursive: true });
    await symlink(join(room.lab.place, 'kept'), join(room.repository, '.git'));
    expect(await outcome()).toBe('identity_changed: git dir');
    await rm(join(room.repository, '.git'));
    await rename(join(room.lab.place, 'kept'), join(room.repository, '.git'));
    expect(await outcome()).toBe('current');
    room.lab.registry.failure = new Error('disk');
    expect(await outcome()).toBe('registry_unavailable');
    room.lab.registry.failure = null;
    room.lab.registry.rows.delete(room.repository);
    expect(await outcome()).toBe('workspace_not_authorized');
  });

  it('R06: a row that means another directory by now is a changed identity', async () => {
    await using held = await room.lab.authority.authorize(room.plain);
    const row = room.lab.registry.rows.get(room.plain);
    room.lab.registry.register(room.plain, {
      ...row,
      identity: { ...(row?.identity as object), inode: '1', handle: '1:00' } as never,
    });
    await expect(held.assertCurrent()).rejects.toMatchObject({
      code: 'identity_changed',
      details: { what: 'root' },
    });
    room.lab.registry.register(room.plain, { ...row, allowMounts: true });
    await expect(held.assertCurrent()).rejects.toMatchObject({ code: 'identity_changed' });
  });

  it('R12: closes the Git directory by identity, under whatever name it is found', async () => {
    await using held = await room.lab.authority.authorizeRepository(room.repository);
    const { inode } = held.repository.gitDirectory.identity();
    expect(held.held.confinement.closedIdentities.map((closed) => closed.inode)).toContain(inode);
    await rename(join(room.repository, '.git'), join(room.repository, 'disguised'));
    await rm(join(room.repository, 'disguised/HEAD'));
    await expect(held.held.guard.check('disguised/config')).rejects.toMatchObject({
      code: 'WA_CLOSED_DIRECTORY',
    });
  });

  it('R04: a directory that cannot be searched any more is no authority', async () => {
    // The super-user may search anything.
    if (process.geteuid?.() === 0) return;
    expect(await room.answer(room.plain)).toBe('none');
    await chmod(dirname(room.plain), 0);
    expect(await room.answer(room.plain)).toBe('workspace_not_authorized');
    await chmod(dirname(room.plain), 0o755);
  });
});
