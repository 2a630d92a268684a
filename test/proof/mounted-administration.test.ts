import { statSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { currencyOf, grantOf } from '../support/answers.ts';
import { mayMount, mountBind, unmount } from '../support/mounts.ts';
import { createWorktreeLab } from '../support/worktree-lab.ts';

const irregular = 'repository_unsupported: git-entry-irregular';

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
