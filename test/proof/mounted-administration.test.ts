import { statSync } from 'node:fs';
import { copyFile, mkdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { NameWatch } from '../../src/proof/name-watch.ts';
import { native } from '../support/addon.ts';
import { currencyOf, grantOf } from '../support/answers.ts';
import { createManagedLab } from '../support/managed-lab.ts';
import { mayMount, mountBind, mountFile, unmount } from '../support/mounts.ts';
import { createWorktreeLab } from '../support/worktree-lab.ts';

const irregular = 'repository_unsupported: admin-file-irregular';

/** Until the directory's time stamps are old enough that an unchanged one means an unchanged directory. */
async function untilSettled(path: string): Promise<void> {
  await expect
    .poll(() => Date.now() - Number(statSync(path, { bigint: true }).ctimeNs / 1_000_000n), {
      timeout: 10_000,
    })
    .toBeGreaterThan(2500);
}

describe.runIf(mayMount)('a mount within the administration of a checkout that was proven long ago', () => {
  it.each(['objects', 'refs'])(
    'R06: over .git/%s: neither a capability in use nor a new one survives it',
    async (name) => {
      await using room = await createWorktreeLab({ mode: 'git' });
      const { authority } = room.lab;
      await mkdir(join(room.lab.place, 'other'));
      await untilSettled(join(room.main, '.git'));
      await using capability = await authority.authorize(room.main);
      expect(await currencyOf(capability)).toBe('current');
      await mountBind(join(room.lab.place, 'other'), join(room.main, '.git', name));
      expect(await currencyOf(capability)).toBe('identity_changed: git dir');
      expect(await grantOf(authority, room.main)).toBe(irregular);
      await unmount(join(room.main, '.git', name));
      expect(await grantOf(authority, room.main)).toBe('workspace root');
    },
  );
});

describe.runIf(mayMount)('a mount over the metadata of a managed worktree', () => {
  it.each([1, 2] as const)(
    'R26: of version %i: refused by the name of the file, in use and anew, until it is gone',
    async (version) => {
      await using room = await createManagedLab({ mode: 'git' });
      const { authority } = room.lab;
      const { path, metadata } = await room.add(version);
      await using capability = await room.authorize(path);
      expect(capability.kind).toBe('managed-worktree');
      // The same bytes: only where they lie is another place.
      const copy = join(room.place, 'copy');
      await copyFile(metadata, copy);
      await mountFile(copy, metadata);
      expect(await currencyOf(capability)).toBe('identity_changed: git dir');
      expect(await grantOf(authority, path)).toBe(irregular);
      expect((await authority.explain(path)).refusal).toEqual({
        code: 'repository_unsupported',
        details: { reason: 'admin-file-irregular', file: 'worktree.json', seen: 'EXDEV' },
      });
      await unmount(metadata);
      expect(await room.kindOf(path)).toBe(`managed by version ${version}`);
      const directory = dirname(metadata);
      await mkdir(join(room.place, 'other'));
      await mountBind(join(room.place, 'other'), directory);
      expect((await authority.explain(path)).refusal?.details).toMatchObject({ file: basename(directory) });
      await unmount(directory);
    },
  );
});

describe.runIf(mayMount)('a watch over names', () => {
  it('R04: tells a mount over the directory from one over a name in it', async () => {
    await using room = await createWorktreeLab({ mode: 'git' });
    const objects = join(room.main, '.git/objects');
    await mkdir(join(room.lab.place, 'other'));
    await mountBind(join(room.lab.place, 'other'), objects);
    const root = await native.openRoot(room.main, {});
    try {
      const refusalOfWatch = (path: string, names: readonly string[]) =>
        NameWatch.begin(root, path, names).then(
          () => 'begun',
          ({ details }) => details,
        );
      expect(await refusalOfWatch('.git', [basename(objects)])).toEqual({
        reason: 'admin-file-irregular',
        file: 'objects',
        seen: 'EXDEV',
      });
      expect(await refusalOfWatch('.git/objects', [])).toEqual({
        reason: 'git-entry-irregular',
        seen: 'EXDEV',
      });
      expect(await refusalOfWatch('.git', ['refs'])).toBe('begun');
    } finally {
      root.close();
      await unmount(objects);
    }
  });
});
