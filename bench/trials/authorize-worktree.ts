import assert from 'node:assert/strict';
import type { Cleanup } from '../harness/cleanup.ts';
import { eachTimed, oneAtATime } from '../harness/timing.ts';
import type { Contest, Side } from '../harness/trial.ts';
import { settle } from '../sides/settle.ts';
import { askGit, type OpenWorktrees, openWorktrees } from '../sides/worktree.ts';

/** A worktree that was seen before. */
export async function prepareWarm(cleanup: Cleanup): Promise<Contest> {
  const place = await openWorktrees(cleanup, { made: 1 });
  await settle();
  const { authorize, verify } = authorizing(place);
  return { ours: { sample: oneAtATime(authorize), verify }, theirs: asking(place) };
}

/** Two worktrees in turn where only one is kept: every authorisation proves anew, while the prover child and the main checkout are warm. */
export async function prepareCold(cleanup: Cleanup): Promise<Contest> {
  const place = await openWorktrees(cleanup, { made: 2, held: 1 });
  await settle();
  const { authorize, verify } = authorizing(place);
  return { ours: { sample: eachTimed(authorize), verify }, theirs: asking(place) };
}

/** Our side has a thousand worktrees, the other side is the same code with one. */
export async function prepareScale(cleanup: Cleanup): Promise<Contest> {
  const side = async (rows: number): Promise<Side> => {
    const { authorize, verify } = authorizing(await openWorktrees(cleanup, { made: 1, rows }));
    return { sample: oneAtATime(authorize), verify };
  };
  const contest = { ours: await side(1000), theirs: await side(1) };
  await settle();
  return contest;
}

function authorizing({ service, worktrees }: OpenWorktrees) {
  let turn = 0;
  async function authorize(): Promise<void> {
    const path = worktrees[turn % worktrees.length] as string;
    turn += 1;
    await using capability = await service.authority.authorize(path);
    assert.equal(capability.kind, 'linked-worktree');
    assert.equal(capability.root, path);
  }
  return { authorize, verify: authorize };
}

function asking({ main, worktrees: [first] }: OpenWorktrees): Side {
  const ask = () => askGit(first as string);
  return {
    sample: eachTimed(ask),
    async verify() {
      assert.ok((await ask()).includes(`worktree ${main}\0`));
    },
  };
}
