import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { ActionContext } from '../../src/actions/action-context.ts';
import { familyKey, inFamily } from '../../src/actions/in-family.ts';
import { parseBeneathPath } from '../../src/capability/beneath-path.ts';
import { createWorkspaceFiles } from '../../src/files/index.ts';
import { createMutationGate } from '../../src/mutation/gate.ts';
import type { MutationGate } from '../../src/mutation/mutation-gate.ts';
import { deferred } from '../support/deferred.ts';
import { git } from '../support/git.ts';
import { outcomeOf, useActionLab } from './action-lab.ts';

const here = useActionLab();
let gate: MutationGate;
let context: ActionContext;
beforeEach(() => {
  gate = createMutationGate({ leases: null });
  context = { authority: here.lab.service.authority, gate } as ActionContext;
});

/** Keeps the family of the repository busy until `end`. */
async function hold(): Promise<{ end: () => void; over: Promise<void> }> {
  await using capability = await here.lab.service.authority.authorizeRepository(here.repo);
  const [started, end] = [deferred<void>(), deferred<void>()];
  const over = gate.run([familyKey(capability)], async () => {
    started.resolve();
    await end.promise;
  });
  await started.promise;
  return { end: () => end.resolve(), over };
}

describe('a turn of a repository family', () => {
  it('R22, W36: main checkout and linked worktrees have one key, other repositories another', async () => {
    const tree = here.beside('tree');
    await git(here.repo, 'worktree', 'add', '-q', '-b', 'topic', tree);
    const other = await here.lab.repository('other');
    const keys: string[] = [];
    for (const path of [here.repo, tree, other]) {
      await using capability = await here.lab.service.authority.authorizeRepository(path);
      keys.push(familyKey(capability));
    }
    expect(keys[0]).toMatch(/^family:\d+:\d+$/);
    expect([keys[1] === keys[0], keys[2] === keys[0]]).toEqual([true, false]);
  });

  it.each([
    ['its row is gone', () => here.lab.service.workspaces?.remove(here.repo), 'workspace_not_authorized'],
    ['its root was moved away', () => rename(here.repo, `${here.repo} elsewhere`), 'identity_changed: root'],
    ['its Git dir was replaced', replaceGitDirectory, 'identity_changed: git dir'],
  ])('R06, R20: a task that waited does not start when %s meanwhile', async (_, change, outcome) => {
    const { end, over } = await hold();
    let started = false;
    const waiting = inFamily(context, here.repo, async () => {
      started = true;
    });
    await untilDepth(2);
    await change();
    end();
    expect(await outcomeOf(waiting)).toBe(outcome);
    expect(started).toBe(false);
    await over;
  });

  it('R20: an abort ends the wait, and who waits behind still gets the turn', async () => {
    const { end, over } = await hold();
    const stop = new AbortController();
    const given = inFamily(context, here.repo, async () => undefined, stop.signal);
    const behind = inFamily(context, here.repo, async () => 'behind');
    await untilDepth(3);
    stop.abort();
    expect(await outcomeOf(given)).toBe('aborted');
    end();
    expect(await behind).toBe('behind');
    await over;
  });

  it('W46: a save does not wait for the turn', async () => {
    const { end, over } = await hold();
    await writeFile(join(here.repo, 'f'), 'one\n');
    const files = createWorkspaceFiles({ gate });
    await using capability = await here.lab.service.authority.authorize(here.repo);
    const path = parseBeneathPath('f');
    const { sha1 } = await files.read(capability, path);
    await files.replace(capability, path, Buffer.from('two\n'), { sha1 });
    end();
    await over;
  });
});

async function replaceGitDirectory(): Promise<void> {
  await rename(join(here.repo, '.git'), join(here.repo, 'old'));
  await git(here.lab.place, 'init', '-q', here.repo);
}

async function untilDepth(depth: number): Promise<void> {
  const deadline = Date.now() + 10_000;
  for (;;) {
    const [key] = gate.pending();
    if (key !== undefined && gate.depth(key as `family:${string}`) === depth) return;
    if (Date.now() > deadline) throw new Error('nobody waits');
    await new Promise(setImmediate);
  }
}
