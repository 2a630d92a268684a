import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { WorkspaceRow } from '../../src/registry/workspace-registry.ts';
import { currencyOf } from '../support/answers.ts';
import { createWorktreeLab, linkedRoot, refused, type WorktreeLab } from '../support/worktree-lab.ts';

let room: WorktreeLab;

beforeEach(async () => {
  room = await createWorktreeLab();
});

afterEach(async () => {
  await room[Symbol.asyncDispose]();
});

function rowOf(path: string): WorkspaceRow {
  const row = room.lab.registry.rows.get(path);
  if (row === undefined) throw new Error(`no row for ${path}`);
  return row;
}

/** Cold, and then warm. */
async function warmUp(): Promise<void> {
  expect([await room.grant(), await room.grant()]).toEqual([linkedRoot, linkedRoot]);
}

describe('the row of the main checkout', () => {
  it('R32: goes, and the worktree is refused at once, however warm; comes back, and it is granted', async () => {
    await warmUp();
    const row = rowOf(room.main);
    room.lab.registry.rows.delete(room.main);
    expect([await room.grant(), await room.grant(room.main)]).toEqual([refused, refused]);
    room.lab.registry.register(room.main, row);
    expect(await room.grant()).toBe(linkedRoot);
  });

  it('R32: is asked for at each authorisation, warm ones too', async () => {
    await warmUp();
    for (let round = 0; round < 3; round += 1) {
      const before = room.lab.registry.asked;
      expect(await room.grant()).toBe(linkedRoot);
      // Its own path, which has none, and the path of the main checkout.
      expect(room.lab.registry.asked - before).toBeGreaterThanOrEqual(2);
    }
  });

  it('R32: means another directory by now, and gives nothing', async () => {
    await warmUp();
    const row = rowOf(room.main);
    room.lab.registry.register(room.main, {
      ...row,
      identity: { ...(row.identity as object), inode: '1', handle: '1:00' } as never,
    });
    expect(await room.grant()).toBe(refused);
    room.lab.registry.register(room.main, { ...row });
    expect(await room.grant()).toBe(linkedRoot);
  });

  it('R32: a registered worktree never delegates to its siblings', async () => {
    const sibling = await room.addWorktree('sibling');
    const nested = await room.addWorktree('nested', room.tree);
    await room.lab.register('tree');
    room.lab.registry.rows.delete(room.main);
    expect(await room.grant()).toBe('workspace root');
    expect([await room.grant(sibling), await room.grant(nested)]).toEqual([refused, refused]);
  });

  it('R32: a row above or below the main checkout is not its row', async () => {
    await mkdir(join(room.main, 'sub'));
    await room.lab.register('main/sub');
    const above = await room.lab.authority.survey(room.lab.place);
    room.lab.registry.register(room.lab.place, { identity: above.identity });
    room.lab.registry.rows.delete(room.main);
    expect([await room.grant(room.lab.place), await room.grant(join(room.main, 'sub'))]).toEqual([
      'workspace none',
      'workspace nested',
    ]);
    expect(await room.grant()).toBe(refused);
  });
});

describe('a row of the worktree itself', () => {
  it('R33: comes and goes, and with it the kind', async () => {
    await warmUp();
    await room.lab.register('tree');
    expect([await room.grant(), await room.grant()]).toEqual(['workspace root', 'workspace root']);
    room.lab.registry.rows.delete(room.tree);
    await warmUp();
  });

  it('R33: is not made by granting the worktree', async () => {
    await warmUp();
    expect([...room.lab.registry.rows.keys()]).toEqual([room.main]);
  });

  it('R32: needs no registered main checkout', async () => {
    await room.lab.register('tree');
    room.lab.registry.rows.delete(room.main);
    expect([await room.grant(), await room.grant()]).toEqual(['workspace root', 'workspace root']);
    room.lab.registry.rows.delete(room.tree);
    expect(await room.grant()).toBe(refused);
  });

  it('R05: of another directory gives nothing, though the worktree alone would be granted', async () => {
    await room.lab.register('tree');
    const row = rowOf(room.tree);
    room.lab.registry.register(room.tree, {
      ...row,
      identity: { ...(row.identity as object), inode: '1', handle: '1:00' } as never,
    });
    expect(await room.grant()).toBe(refused);
  });
});

describe('a registry that fails', () => {
  it.each(['cold', 'warm'])('R04: is 503 for a %s worktree, and heals', async (state) => {
    if (state === 'warm') await warmUp();
    room.lab.registry.failure = new Error('disk');
    await expect(room.lab.authority.authorize(room.tree)).rejects.toMatchObject({
      code: 'registry_unavailable',
      status: 503,
    });
    room.lab.registry.failure = null;
    expect(await room.grant()).toBe(linkedRoot);
  });

  it('R04: for the main checkout alone is 503, cold, warm and in use', async () => {
    const { registry, authority } = room.lab;
    const find = registry.find.bind(registry);
    const fail = () => {
      registry.find = (path) => {
        if (path === room.main) throw new Error('disk');
        return find(path);
      };
    };
    fail();
    expect(await room.grant()).toBe('registry_unavailable');
    registry.find = find;
    await using held = await authority.authorize(room.tree);
    fail();
    expect([await room.grant(), await currencyOf(held)]).toEqual([
      'registry_unavailable',
      'registry_unavailable',
    ]);
    registry.find = find;
    expect([await room.grant(), await currencyOf(held)]).toEqual([linkedRoot, 'current']);
  });

  it('R04: later, by a promise, is 503 too, and nothing rejects unheard', async () => {
    await warmUp();
    room.lab.registry.find = async (path) => {
      if (path === room.main) throw new Error('disk');
      return null;
    };
    expect([await room.grant(), await room.grant()]).toEqual([
      'registry_unavailable',
      'registry_unavailable',
    ]);
  });

  it('R04: that answers with another row is 503', async () => {
    const row = rowOf(room.main);
    room.lab.registry.find = (path) => (path === room.main ? { ...row, path: room.tree } : null);
    expect(await room.grant()).toBe('registry_unavailable: answered with another row');
  });

  it('R32: that answers late is waited for', async () => {
    const { registry } = room.lab;
    const find = registry.find.bind(registry);
    registry.find = async (path) => {
      await new Promise(setImmediate);
      return find(path);
    };
    await warmUp();
    registry.rows.delete(room.main);
    expect(await room.grant()).toBe(refused);
  });
});

describe('the spelling of a worktree without a row', () => {
  it('R30: only the canonical one counts, cold and warm', async () => {
    await symlink(room.tree, join(room.lab.place, 'alias'));
    await symlink(room.lab.place, join(room.lab.place, 'around'));
    const { tree, lab } = room;
    const spellings = [
      `${tree}/`,
      `/${tree}`,
      `${tree}/.`,
      `${tree}/./`,
      `${tree}/../tree`,
      `${lab.place}/./tree`,
      `${lab.place}//tree`,
      join(lab.place, 'alias'),
      join(lab.place, 'around/tree'),
      `${lab.place}/TREE`,
      `${tree} `,
      tree.slice(1),
      `file://${tree}`,
    ];
    for (const state of ['cold', 'warm']) {
      const answers = await Promise.all(spellings.map((spelling) => room.grant(spelling)));
      expect([state, new Set(answers)]).toEqual([state, new Set([refused])]);
      await warmUp();
    }
  });

  it('R30: with a row every spelling means that row', async () => {
    await room.lab.register('tree');
    for (const spelling of [`${room.tree}/`, `${room.tree}/.`, `${room.lab.place}/main/../tree`]) {
      expect([spelling, await room.grant(spelling)]).toEqual([spelling, 'workspace root']);
    }
  });

  it('R34: every refusal of an unregistered directory is the same, whatever it holds', async () => {
    const { lab, main, administration } = room;
    const contents: Readonly<Record<string, string | null>> = {
      plain: null,
      malformed: 'nonsense',
      stranger: `gitdir: ${lab.place}/nowhere/.git/worktrees/x\n`,
      forged: `gitdir: ${administration}\n`,
      separate: `gitdir: ${main}/.git\n`,
      submodule: `gitdir: ${main}/.git/modules/x\n`,
      bare: `gitdir: ${lab.place}/bare.git/worktrees/x\n`,
    };
    for (const [name, text] of Object.entries(contents)) {
      await mkdir(join(lab.place, name));
      if (text !== null) await writeFile(join(lab.place, name, '.git'), text);
    }
    for (const name of [...Object.keys(contents), 'absent']) {
      const error = await lab.authority.authorize(join(lab.place, name)).catch((thrown: unknown) => thrown);
      expect([name, error]).toMatchObject([name, { code: refused, details: {}, status: 403 }]);
    }
  });
});
