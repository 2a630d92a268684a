import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { WorkspacePinStore } from '../../src/authority/ports.ts';
import type { RepositoryCapability } from '../../src/capability/repository-capability.ts';
import { readBranchFacts } from '../../src/git/branch-facts.ts';
import type { ProverMode } from '../../src/proof/provers.ts';
import type { WorkspacePins } from '../../src/registry/workspace-registry.ts';
import { refusalOf } from '../support/answers.ts';
import { type AuthorityLab, createLab } from '../support/authority-lab.ts';
import { git, makeRepository } from '../support/git.ts';

const program = fileURLToPath(new URL('programs/swap.mjs', import.meta.url));
const long = process.env['WORKSPACE_AUTHORITY_LONG'] === '1';
const tries = long ? 20_000 : 600;

/** What may come of an authorisation while the directories are exchanged: the truth, or one of these. */
const allowed = new Set([
  'workspace_not_authorized',
  'busy',
  'busy: repository',
  'identity_changed: git dir',
  'repository_unsupported: prover-disagrees',
  'prover_unavailable: hung-before',
]);

/** Runs until it is disposed, which must be before the directories go. */
async function attack(first: string, second: string): Promise<AsyncDisposable> {
  const attacker = spawn(process.execPath, [program, first, second], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(attacker.stdout, 'data');
  return {
    async [Symbol.asyncDispose]() {
      attacker.kill('SIGKILL');
      await once(attacker, 'exit');
    },
  };
}

/** Pins nothing: whoever stands under the name is taken, so that only the consistency of what was proven is under test. */
const acceptingPins: WorkspacePinStore = {
  find: () => null,
  pin: async (_: string, pins: WorkspacePins) => pins,
};

/** Two repositories with a branch each that the other does not have, and the inodes that belong together. */
async function makeTwins(
  lab: AuthorityLab,
): Promise<ReadonlyMap<bigint, { readonly git: bigint; readonly branch: string }>> {
  const twins = new Map<bigint, { readonly git: bigint; readonly branch: string }>();
  for (const name of ['first', 'second']) {
    const root = join(lab.place, name);
    await makeRepository(root);
    await git(root, 'checkout', '-q', '-b', `branch-of-${name}`);
    const inode = statSync(root, { bigint: true }).ino;
    twins.set(inode, {
      git: statSync(join(root, '.git'), { bigint: true }).ino,
      branch: `branch-of-${name}`,
    });
  }
  return twins;
}

async function judge(
  lab: AuthorityLab,
  selector: string,
  use: (repository: RepositoryCapability) => Promise<void>,
): Promise<string> {
  try {
    await using capability = await lab.authority.authorizeRepository(selector);
    await use(capability);
    return 'granted';
  } catch (error) {
    return refusalOf(error);
  }
}

describe('two repositories that another process exchanges all the time', () => {
  it('the attacker bites: a root and its .git, looked at by path, belong to different repositories', async () => {
    await using lab = await createLab({ mode: 'git' });
    const twins = await makeTwins(lab);
    const root = join(lab.place, 'first');
    await using _ = await attack(root, join(lab.place, 'second'));
    let fooled = 0;
    for (const until = performance.now() + 20_000; fooled === 0 && performance.now() < until; ) {
      try {
        const { ino } = statSync(root, { bigint: true });
        if (statSync(join(root, '.git'), { bigint: true }).ino !== twins.get(ino)?.git) fooled += 1;
      } catch {
        // Between two renames nothing stands under the name.
      }
    }
    expect(fooled).toBe(1);
  });

  it.each<ProverMode>(['nodegit', 'git', 'both'])(
    'R06: prover %s: whatever is granted holds the root, the Git directory and the branch of one repository',
    async (mode) => {
      await using lab = await createLab({ mode, pins: acceptingPins });
      const twins = await makeTwins(lab);
      const root = join(lab.place, 'first');
      lab.registry.register(root);
      await using _ = await attack(root, join(lab.place, 'second'));
      const outcomes = new Map<string, number>();
      const rounds = mode === 'nodegit' ? tries : tries / 6;
      for (let round = 0; round < rounds; round += 1) {
        const outcome = await judge(lab, root, async ({ held, repository }) => {
          const twin = twins.get(held.identity.inode);
          expect(repository.gitDirectory.identity().inode).toBe(twin?.git);
          if (round % 10 !== 0) return;
          expect((await readBranchFacts({ held, repository } as RepositoryCapability, lab.git)).branch).toBe(
            twin?.branch,
          );
        });
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
      }
      expect(
        [...outcomes.keys()].filter((outcome) => outcome !== 'granted' && !allowed.has(outcome)),
      ).toEqual([]);
      expect(outcomes.size).toBeGreaterThan(1);
    },
  );

  it('R05: with a pinned identity only the registered repository is ever granted', async () => {
    await using lab = await createLab({ mode: 'nodegit' });
    await makeTwins(lab);
    const root = await lab.register('first');
    const { ino } = statSync(root, { bigint: true });
    await using _ = await attack(root, join(lab.place, 'second'));
    let granted = 0;
    for (let round = 0; round < tries; round += 1) {
      const outcome = await judge(lab, root, async ({ held }) => {
        granted += 1;
        expect(held.identity.inode).toBe(ino);
      });
      if (outcome !== 'granted') expect([...allowed]).toContain(outcome);
    }
    expect(granted).toBeLessThan(tries);
  });

  it('R06: .git exchanged inside one root: never a capability of the other Git directory', async () => {
    await using lab = await createLab({ mode: 'nodegit' });
    await makeTwins(lab);
    const root = await lab.register('first');
    const own = statSync(join(root, '.git'), { bigint: true }).ino;
    const other = statSync(join(lab.place, 'second/.git'), { bigint: true }).ino;
    await using _ = await attack(join(root, '.git'), join(lab.place, 'second/.git'));
    const outcomes = new Set<string>();
    for (let round = 0; round < tries; round += 1) {
      const outcome = await judge(lab, root, async ({ repository, held }) => {
        const { inode } = repository.gitDirectory.identity();
        expect([own, other]).toContain(inode);
        expect(held.confinement.closedIdentities.map((closed) => closed.inode)).toContain(inode);
      });
      outcomes.add(outcome);
    }
    // Without .git for a moment it is a plain directory; and what came back before the second look is told as what was seen.
    const seen = ['prover-disagrees', 'git-directory-incomplete'].map(
      (reason) => `repository_unsupported: ${reason}`,
    );
    const others = ['granted', 'git_repository_required', ...seen];
    const expected = new Set([...others, 'busy', 'busy: repository', 'identity_changed: git dir']);
    expect([...outcomes].filter((outcome) => !expected.has(outcome))).toEqual([]);
    expect(outcomes).toContain('identity_changed: git dir');
  });
});
