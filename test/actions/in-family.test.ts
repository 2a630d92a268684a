import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ActionContext } from '../../src/actions/action-context.ts';
import { familyKey, inFamily } from '../../src/actions/in-family.ts';
import { parseBeneathPath } from '../../src/capability/beneath-path.ts';
import { createWorkspaceFiles } from '../../src/files/index.ts';
import { createMutationGate } from '../../src/mutation/gate.ts';
import type { MutationGate } from '../../src/mutation/mutation-gate.ts';
import { deferred } from '../support/deferred.ts';
import { git } from '../support/git.ts';
import { type ActionLab, createActionLab, outcomeOf } from './action-lab.ts';

let lab: ActionLab;
let repo: string;
let gate: MutationGate;
let context: ActionContext;
let count = 0;
beforeAll(async () => {
  lab = await createActionLab();
});
afterAll(() => lab[Symbol.asyncDispose]());
beforeEach(async () => {
  count += 1;
  repo = await lab.repository(`repo ${count}`);
  gate = createMutationGate({ leases: null });
  context = { authority: lab.service.authority, gate } as ActionContext;
});

/** Keeps the family of the repository busy until `end`. */
async function hold(): Promise<{ end: () => void; over: Promise<void> }> {
  await using capability = await lab.service.authority.authorizeRepository(repo);
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
    const tree = join(lab.place, `tree ${count}`);
    await git(repo, 'worktree', 'add', '-q', '-b', 'topic', tree);
    const other = await lab.repository(`other ${count}`);
    const keys: string[] = [];
    for (const path of [repo, tree, other]) {
      await using capability = await lab.service.authority.authorizeRepository(path);
      keys.push(familyKey(capability));
    }
    expect(keys[0]).toMatch(/^family:\d+:\d+$/);
    expect([keys[1] === keys[0], keys[2] === keys[0]]).toEqual([true, false]);
  });

  it.each([
    ['its row is gone', () => lab.service.workspaces?.remove(repo), 'workspace_not_authorized'],
    ['its root was moved away', () => rename(repo, `${repo} elsewhere`), 'identity_changed: root'],
    ['its Git dir was replaced', replaceGitDirectory, 'identity_changed: git dir'],
  ])('R06, R20: a task that waited does not start when %s meanwhile', async (_, change, outcome) => {
    const { end, over } = await hold();
    let started = false;
    const waiting = inFamily(context, repo, async () => {
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
    const given = inFamily(context, repo, async () => undefined, stop.signal);
    const behind = inFamily(context, repo, async () => 'behind');
    await untilDepth(3);
    stop.abort();
    expect(await outcomeOf(given)).toBe('aborted');
    end();
    expect(await behind).toBe('behind');
    await over;
  });

  it('W46: a save does not wait for the turn', async () => {
    const { end, over } = await hold();
    await writeFile(join(repo, 'f'), 'one\n');
    const files = createWorkspaceFiles({ gate });
    await using capability = await lab.service.authority.authorize(repo);
    const path = parseBeneathPath('f');
    const { sha1 } = await files.read(capability, path);
    await files.replace(capability, path, Buffer.from('two\n'), { sha1 });
    end();
    await over;
  });
});

async function replaceGitDirectory(): Promise<void> {
  await rename(join(repo, '.git'), join(repo, 'old'));
  await git(lab.place, 'init', '-q', repo);
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
