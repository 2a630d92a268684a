import { mkdir } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { nodegitState } from '../../scripts/nodegit.mjs';
import type { NodegitState } from '../../src/proof/provers.ts';
import { answerOf } from '../support/answers.ts';
import { type AuthorityLab, createLab, type LabOptions } from '../support/authority-lab.ts';
import { git, makeRepository } from '../support/git.ts';
import { descendants } from '../support/processes.ts';

const ready = nodegitState() as NodegitState;
const soon = { timeout: 10_000, interval: 20 };
let lab: AuthorityLab;
let repository: string;

async function open(options: LabOptions): Promise<void> {
  lab = await createLab(options);
  await makeRepository(`${lab.place}/repository`);
  repository = await lab.register('repository');
}

/** Makes the next authorisation a cold one. */
function forget(): void {
  const row = lab.registry.rows.get(repository);
  lab.registry.register(repository, { ...row, id: `${row?.id}+` });
}

beforeEach(() => {
  expect(ready.state).toBe('ready');
});

afterEach(async () => {
  await lab[Symbol.asyncDispose]();
});

describe('the choice of the prover', () => {
  it('auto: Git answers while nodegit is built, and nodegit as soon as it is there, without a restart', async () => {
    let state: NodegitState = { state: 'building' };
    await open({ mode: 'auto', nodegitState: () => state });
    const before = descendants().length;
    expect(await answerOf(lab.authority, repository)).toBe('root');
    expect(await lab.provers.report()).toMatchObject({ mode: 'auto', active: 'git', nodegit: 'building' });
    expect(descendants()).toHaveLength(before);
    state = ready;
    await expect
      .poll(async () => {
        forget();
        return [await answerOf(lab.authority, repository), (await lab.provers.report()).active];
      }, soon)
      .toEqual(['root', 'git+nodegit']);
    forget();
    expect(await answerOf(lab.authority, repository)).toBe('root');
    expect(descendants().length).toBeGreaterThan(before);
  });

  it('auto: formats that libgit2 does not read go to Git', async () => {
    await open({ mode: 'auto' });
    await git(lab.place, 'init', '--quiet', '--object-format=sha256', 'modern');
    expect(await answerOf(lab.authority, await lab.register('modern'))).toBe('root');
    await git(repository, 'config', 'extensions.partialClone', 'origin');
    expect(await answerOf(lab.authority, repository)).toBe('root');
  });

  it.each(['building', 'failed', 'absent'] as const)(
    'R04: nodegit %s: no answer where only nodegit may answer',
    async (state) => {
      await open({ mode: 'nodegit', nodegitState: () => ({ state }) });
      expect(await answerOf(lab.authority, repository)).toBe(`prover_unavailable: ${state}`);
      expect(await lab.provers.report()).toMatchObject({ active: 'none', nodegit: state });
    },
  );

  it('R04: both: one prover alone is no answer', async () => {
    await open({ mode: 'both', nodegitState: () => ({ state: 'absent' }) });
    expect(await answerOf(lab.authority, repository)).toBe('prover_unavailable: absent');
  });

  it('R04: no Git: no answer from it, and the report says so', async () => {
    await open({ mode: 'git', gitProgram: '/nonexistent/git' });
    expect(await answerOf(lab.authority, repository)).toBe('prover_unavailable: spawn');
    expect(await lab.provers.report()).toEqual({
      mode: 'git',
      active: 'none',
      nodegit: 'ready',
      gitVersion: null,
    });
  });

  it('R04: a prover that is not there refuses repositories only: plain directories need none', async () => {
    await open({ mode: 'nodegit', nodegitState: () => ({ state: 'absent' }) });
    expect(await answerOf(lab.authority, await registerPlain())).toBe('none');
  });

  it('R04: a prover that disagrees is a refusal', async () => {
    await open({ prover: { prove: async () => ({ agrees: false, seen: 'another' }) } });
    expect(await answerOf(lab.authority, repository)).toBe('repository_unsupported: prover-disagrees');
  });

  it('reports the version of Git', async () => {
    await open({ mode: 'git' });
    expect((await lab.provers.report()).gitVersion).toMatch(/^\d+\.\d+/);
  });
});

async function registerPlain(): Promise<string> {
  await mkdir(`${lab.place}/plain`);
  return lab.register('plain');
}
