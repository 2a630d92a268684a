import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { nodegitState } from '../../scripts/nodegit.mjs';
import { toStoredIdentity } from '../../src/capability/identity.ts';
import type { ProverMode } from '../../src/proof/provers.ts';
import { native } from '../support/addon.ts';
import { answerOf } from '../support/answers.ts';
import { type AuthorityLab, createLab, makePlace } from '../support/authority-lab.ts';
import { buildZoo, type ZooCase } from '../support/repository-zoo.ts';

const linked = 'repository_unsupported: linked-worktree';
const separate = 'repository_unsupported: separate-git-dir';
const gone = 'workspace_not_authorized';

function unsupported(reason: string): string {
  return `repository_unsupported: ${reason}`;
}

/** One answer for every prover, or one for each. Worktrees of all kinds are refused by name until they have a proof of their own. */
const expected: Readonly<Record<string, string | Readonly<Record<ProverMode, string>>>> = {
  plain: 'root',
  'nested-dir': 'nested',
  'dotgit-dir-itself': unsupported('git-directory'),
  'repo-in-repo': 'root',
  'embedded-bare-in-tree': unsupported('bare-repository'),
  'not-a-repo': 'none',
  'empty-dotgit': unsupported('git-directory-incomplete'),
  'empty-dotgit-inside-repo': unsupported('git-directory-incomplete'),
  'symlink-to-main': gone,
  submodule: unsupported('submodule'),
  'linked-of-super': linked,
  'worktree-of-submodule': linked,
  'separate-git-dir': separate,
  'linked-of-separate': linked,
  'separate-inside': separate,
  linked,
  'linked-subdir': 'nested',
  'admin-dir-itself': unsupported('git-directory'),
  'worktree-added-from-worktree': linked,
  'worktree-inside-worktree': linked,
  'worktree-inside-main': linked,
  'same-basename-2': linked,
  locked: linked,
  'locked-dir-gone': gone,
  'locked-dotgit-gone': 'none',
  'prunable-dir-gone': gone,
  'prunable-dotgit-gone': 'none',
  'prunable-replaced-by-empty-dir': 'none',
  'replaced-by-other-main': 'root',
  'moved-no-repair-new': linked,
  'moved-no-repair-old': gone,
  'gitdir-file-points-elsewhere': linked,
  'dotgit-swapped-A': linked,
  'dotgit-swapped-B': linked,
  'copied-worktree-copy': linked,
  'copied-worktree-orig': linked,
  'fab-dotgit-to-foreign-admin': linked,
  'fab-dotgit-to-main-gitdir': separate,
  'fab-forged-admin-outside': separate,
  'fab-forged-admin-same-name': separate,
  'commondir-to-other-repo': linked,
  'admin-dir-is-symlink': linked,
  'bare-itself': unsupported('bare-repository'),
  'linked-of-bare': linked,
  'bare-in-dotgit-root': unsupported('core-bare'),
  'linked-of-dotgit-bare': linked,
  'core.bare-true-nonbare-layout': unsupported('core-bare'),
  'linked-of-core.bare-true': linked,
  'path-spaces': linked,
  'path-nonascii': linked,
  'path-newline-middle': 'invalid_request: control character',
  'path-newline-end': 'invalid_request: control character',
  'path-space-end': linked,
  'path-dash': linked,
  'path-quotes-backslash': linked,
  'main-path-nonascii': linked,
  'main-invalid-utf8': gone,
  'symlinked-worktree-path': gone,
  'symlinked-parent': gone,
  'worktree-added-via-symlink-parent': linked,
  'dotgit-noncanonical-path': separate,
  'dotgit-crlf': unsupported('git-file-malformed'),
  'dotgit-two-lines': unsupported('git-file-malformed'),
  'dotgit-symlink-to-dir': unsupported('git-entry-irregular'),
  'dotgit-symlink-to-file': unsupported('git-entry-irregular'),
  'relative-links-noext': linked,
  'relative-links-ext': linked,
  'relative-links-ext-main': unsupported('relative-worktree-links'),
  'core.worktree-elsewhere': unsupported('core-worktree'),
  'core.worktree-target': 'none',
  'core.worktree-self': unsupported('core-worktree'),
  'worktreeConfig-core.worktree-main': unsupported('core-worktree'),
  'worktreeConfig-core.worktree-linked': linked,
  'core.worktree-in-common-linked': linked,
  'sha256-main': byProver('root', unsupported('format-needs-git')),
  'sha256-linked': linked,
  'reftable-sim': unsupported('reftable'),
  'partialclone-ext': byProver('root', unsupported('format-needs-git')),
  'format-version-99': unsupported('format-version'),
  'unknown-extension': unsupported('extension'),
  'bad-config': unsupported('config-malformed'),
  'config-missing': unsupported('config-missing'),
  'include-missing': unsupported('config-include'),
  'include-self-loop': unsupported('config-include'),
  'HANG-config-fifo': unsupported('admin-file-irregular'),
  'HANG-include-fifo': unsupported('config-include'),
  'HANG-dotgit-fifo': unsupported('git-entry-irregular'),
  'HANG-commondir-fifo': linked,
  'HANG-gitdir-fifo': linked,
  'HANG-sibling-gitdir-fifo': linked,
  'huge-dotgit-3G-sparse': unsupported('git-file-malformed'),
  unborn: 'root',
  detached: 'root',
  'HEAD-garbage': unsupported('head-malformed'),
  'HEAD-empty': unsupported('head-malformed'),
  'refs-missing': unsupported('git-directory-incomplete'),
  'linked-HEAD-garbage': linked,
  'linked-HEAD-missing': linked,
  'main-moved': linked,
  'main-moved-main': 'root',
  'foreign-owner-main': unsupported('foreign-owner'),
  'foreign-owner-linked': unsupported('foreign-owner'),
  'foreign-dotgit-only': unsupported('foreign-owner'),
  'foreign-wtdir-only': linked,
};

/** Formats that libgit2 does not read. */
function byProver(git: string, nodegit: string): Readonly<Record<ProverMode, string>> {
  return { auto: git, git, nodegit, both: nodegit };
}

let place: string;
let cases: readonly ZooCase[];

beforeAll(async () => {
  place = await makePlace();
  cases = await buildZoo(place);
}, 120_000);

afterAll(async () => {
  await rm(place, { recursive: true, force: true });
});

/** Every layout registered with the identity it has; what cannot be opened is registered without one. */
async function registerAll(lab: AuthorityLab): Promise<void> {
  const none = { inode: '0', fileSystemId: '0', handle: null, birthTimeNs: null };
  for (const { path } of cases) {
    const root = await native.openRoot(path.toString(), {}).catch(() => null);
    const identity = root === null ? none : toStoredIdentity(root.identity());
    root?.close();
    lab.registry.register(path.toString(), { identity });
  }
}

describe('the zoo of repositories', () => {
  it('nodegit loads here, so that nothing below is skipped', () => {
    expect(nodegitState()).toMatchObject({ state: 'ready' });
  });

  it('has an expected answer for every layout', () => {
    const labels = cases.map(({ label }) => label);
    const onlyAsRoot =
      process.geteuid?.() === 0 ? [] : Object.keys(expected).filter((label) => label.startsWith('foreign'));
    expect([...labels, ...onlyAsRoot].sort()).toEqual(Object.keys(expected).sort());
  });

  it.each<ProverMode>(['nodegit', 'git', 'both', 'auto'])(
    'R02, R03, R04: prover %s: main checkouts are proven, everything else is refused by its reason',
    async (mode) => {
      // What would lift the owner check of Git and libgit2 must lift nothing here.
      vi.stubEnv('SUDO_UID', '65534');
      vi.stubEnv('GIT_DIR', `${place}/zoo/plain/.git`);
      vi.stubEnv('GIT_CONFIG_COUNT', '1');
      vi.stubEnv('GIT_CONFIG_KEY_0', 'safe.directory');
      vi.stubEnv('GIT_CONFIG_VALUE_0', '*');
      await using lab = await createLab({ mode, place });
      await registerAll(lab);
      const seen: Record<string, string> = {};
      const right: Record<string, string> = {};
      for (const { label, path } of cases) {
        const answer = expected[label] as string | Readonly<Record<ProverMode, string>>;
        right[label] = typeof answer === 'string' ? answer : answer[mode];
        seen[label] = await answerOf(lab.authority, path.toString());
      }
      vi.unstubAllEnvs();
      expect(seen).toEqual(right);
    },
  );

  it('no layout that the author of the zoo rejects is ever proven a root', () => {
    const wrong = cases.filter(({ label, verdict }) => {
      const answer = expected[label];
      return verdict === 'REJECT' && answer !== undefined && JSON.stringify(answer).includes('root');
    });
    expect(wrong).toEqual([]);
  });

  it('R04: explain names the fact that failed for every refused layout', async () => {
    await using lab = await createLab({ mode: 'nodegit', place });
    await registerAll(lab);
    for (const { label, path } of cases) {
      const explanation = await lab.authority.explain(path.toString());
      const failing = explanation.facts.filter(({ holds }) => !holds);
      const refused = explanation.refusal !== null;
      expect([label, explanation.authorized, failing.length]).toEqual([label, !refused, refused ? 1 : 0]);
      expect([label, explanation.facts.at(-1)?.holds]).toEqual([label, !refused]);
    }
  });
});
