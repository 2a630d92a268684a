import { execFileSync } from 'node:child_process';
import { cp, mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { answerOf } from '../support/answers.ts';
import { createLab } from '../support/authority-lab.ts';
import { makeRepository } from '../support/git.ts';

const isRoot = process.geteuid?.() === 0;

interface Rebinding {
  readonly name: string;
  /** `root` is `<place>/above/app`; `other` is another registered root. */
  readonly rebind: (root: string, other: string) => Promise<unknown>;
  /** Puts the first directory back, where that is possible. */
  readonly undo?: (root: string) => Promise<unknown>;
}

const rebindings: readonly Rebinding[] = [
  {
    name: 'renamed away',
    rebind: (root) => rename(root, `${root} away`),
    undo: (root) => rename(`${root} away`, root),
  },
  {
    name: 'replaced by another directory',
    rebind: async (root) => {
      await rename(root, `${root} away`);
      await mkdir(root);
    },
    undo: async (root) => {
      await rm(root, { recursive: true });
      await rename(`${root} away`, root);
    },
  },
  {
    name: 'replaced by another repository',
    rebind: async (root) => {
      await rename(root, `${root} away`);
      await makeRepository(root);
    },
  },
  {
    name: 'replaced by a copy',
    rebind: async (root) => {
      await rename(root, `${root} away`);
      await cp(`${root} away`, root, { recursive: true });
    },
  },
  {
    name: 'deleted and made again, with the same inode number where the file system reuses it',
    rebind: async (root) => {
      await rm(root, { recursive: true });
      await mkdir(root);
    },
  },
  { name: 'deleted', rebind: (root) => rm(root, { recursive: true }) },
  {
    name: 'replaced by a file',
    rebind: async (root) => {
      await rename(root, `${root} away`);
      await writeFile(root, '');
    },
  },
  {
    name: 'replaced by a link to itself elsewhere',
    rebind: async (root) => {
      await rename(root, `${root} away`);
      await symlink(`${root} away`, root);
    },
  },
  {
    name: 'replaced by a link to another registered root',
    rebind: async (root, other) => {
      await rename(root, `${root} away`);
      await symlink(other, root);
    },
  },
  {
    name: 'its parent replaced by a link to the moved parent',
    rebind: async (root) => {
      await rename(join(root, '..'), `${join(root, '..')} away`);
      await symlink(`${join(root, '..')} away`, join(root, '..'));
    },
  },
  {
    name: 'its parent replaced by another one with a directory of that name',
    rebind: async (root) => {
      await rename(join(root, '..'), `${join(root, '..')} away`);
      await mkdir(root, { recursive: true });
    },
  },
];

describe.each(['plain directory', 'repository'])('a registered %s', (kind) => {
  it.each(rebindings)('R05, R06: loses authority when it is $name', async ({ rebind, undo }) => {
    await using lab = await createLab();
    const name = 'above/app';
    await mkdir(join(lab.place, 'above'));
    await mkdir(join(lab.place, 'other'));
    if (kind === 'repository') await makeRepository(join(lab.place, name));
    else await mkdir(join(lab.place, name));
    const root = await lab.register(name);
    const other = await lab.register('other');
    await using held = await lab.authority.authorize(root);
    await held.assertCurrent();

    await rebind(root, other);
    expect(await answerOf(lab.authority, root)).toBe('workspace_not_authorized');
    expect(await answerOf(lab.authority, `${root}/`)).toBe('workspace_not_authorized');
    expect(await answerOf(lab.authority, other)).toBe('none');
    await expect(held.assertCurrent()).rejects.toMatchObject({
      code: 'identity_changed',
      details: { what: 'root' },
    });
    const explanation = await lab.authority.explain(root);
    expect(explanation).toMatchObject({ authorized: false, refusal: { code: 'workspace_not_authorized' } });

    if (undo === undefined) return;
    await undo(root);
    expect(await answerOf(lab.authority, root)).toBe(kind === 'repository' ? 'root' : 'none');
    await held.assertCurrent();
  });
});

describe('a registered mount point', () => {
  it.runIf(isRoot)('R05: loses authority when it is unmounted while held', async () => {
    await using lab = await createLab();
    const path = join(lab.place, 'disk');
    await mkdir(path);
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', path]);
    let mounted = true;
    try {
      const root = await lab.register('disk');
      await using held = await lab.authority.authorize(root);
      execFileSync('umount', ['--lazy', path]);
      mounted = false;
      expect(await answerOf(lab.authority, root)).toBe('workspace_not_authorized');
      await expect(held.assertCurrent()).rejects.toMatchObject({ code: 'identity_changed' });
    } finally {
      if (mounted) execFileSync('umount', ['--lazy', path]);
    }
  });

  it.runIf(isRoot)('R05: loses authority when something is mounted over it', async () => {
    await using lab = await createLab();
    const path = join(lab.place, 'covered');
    await mkdir(path);
    const root = await lab.register('covered');
    await using held = await lab.authority.authorize(root);
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', path]);
    try {
      expect(await answerOf(lab.authority, root)).toBe('workspace_not_authorized');
      await expect(held.assertCurrent()).rejects.toMatchObject({ code: 'identity_changed' });
    } finally {
      execFileSync('umount', ['--lazy', path]);
    }
    expect(await answerOf(lab.authority, root)).toBe('none');
  });
});
