import { AuthorityError } from '../errors/index.ts';
import { readGitVersion } from '../git/git-version.ts';
import type { GitRunner } from '../git/run-git.ts';
import { createGitProver } from './git-prover.ts';
import { NodegitPool } from './nodegit-pool.ts';
import { startNodegitProcess } from './nodegit-process.ts';
import { createNodegitProver } from './nodegit-prover.ts';
import type { ProverOpinion, ProverQuestion, RepositoryProver } from './prover.ts';
import { unsupported } from './unsupported.ts';

/**
 * auto: nodegit once it is there, and Git before that and for the formats that libgit2 does not read. nodegit, git: only that one.
 * both: both must agree.
 */
export type ProverMode = 'auto' | 'nodegit' | 'git' | 'both';

/** What there is of nodegit now; `path` is the directory it is loaded from. */
export type NodegitState =
  | { readonly state: 'ready'; readonly path: string }
  | { readonly state: 'building' | 'failed' | 'absent' };

export interface ProverReport {
  readonly mode: ProverMode;
  readonly active: 'nodegit' | 'git' | 'git+nodegit' | 'none';
  /** `failed` also while the children die too often to be asked. */
  readonly nodegit: 'ready' | 'building' | 'failed' | 'absent';
  readonly gitVersion: string | null;
}

export interface Provers extends RepositoryProver {
  report(): Promise<ProverReport>;
  /** Ends the children. What is being asked fails with `prover_unavailable`. */
  close(): Promise<void>;
}

export interface ProversOptions {
  readonly mode: ProverMode;
  readonly git: GitRunner;
  /** Asked anew at most once a second, so a build that ends is noticed without a restart. */
  readonly nodegitState: () => NodegitState;
  /** Absolute path of the `death-guard` program that is built beside the addon. */
  readonly deathGuard: string;
}

const stateAgeMs = 1000;
/** Reports are asked for often; Git is replaced seldom. */
const versionAgeMs = 10_000;

/**
 * Chooses who gives the second opinion. When the chosen one cannot answer, the answer is `prover_unavailable`; nobody else is asked
 * instead, so killing a prover gains nothing.
 */
export function createProvers(options: ProversOptions): Provers {
  const { mode, git } = options;
  const gitProver = createGitProver(git);
  const pools = new Map<string, NodegitPool>();
  let state: NodegitState = { state: 'absent' };
  let askedAt = Number.NEGATIVE_INFINITY;

  function currentState(): NodegitState {
    const now = performance.now();
    if (now - askedAt >= stateAgeMs) {
      state = options.nodegitState();
      askedAt = now;
    }
    return state;
  }

  let version: Promise<string | null> = Promise.resolve(null);
  let versionAskedAt = Number.NEGATIVE_INFINITY;

  function currentVersion(): Promise<string | null> {
    const now = performance.now();
    if (now - versionAskedAt >= versionAgeMs) {
      version = readGitVersion(git).catch(() => null);
      versionAskedAt = now;
    }
    return version;
  }

  function poolOf(nodegit: string): NodegitPool {
    const existing = pools.get(nodegit);
    if (existing !== undefined) return existing;
    const pool = new NodegitPool({
      start: (events) => startNodegitProcess({ deathGuard: options.deathGuard, nodegit }, events),
    });
    pools.set(nodegit, pool);
    return pool;
  }

  function nodegitProver(): RepositoryProver {
    const now = currentState();
    if (now.state === 'ready') return createNodegitProver(poolOf(now.path));
    throw new AuthorityError('prover_unavailable', { details: { prover: 'nodegit', reason: now.state } });
  }

  function chosen(question: ProverQuestion): readonly RepositoryProver[] {
    // libgit2 1.9 refuses these formats.
    const needsGit = question.format.objectFormat === 'sha256' || question.format.partialClone;
    if (mode === 'git') return [gitProver];
    if (mode === 'auto') return [needsGit || currentState().state !== 'ready' ? gitProver : nodegitProver()];
    if (needsGit) throw unsupported('format-needs-git');
    return mode === 'nodegit' ? [nodegitProver()] : [nodegitProver(), gitProver];
  }

  return {
    async prove(question: ProverQuestion, signal?: AbortSignal): Promise<ProverOpinion> {
      const opinions = await Promise.all(chosen(question).map((prover) => prover.prove(question, signal)));
      return opinions.find((opinion) => !opinion.agrees) ?? { agrees: true };
    },

    async report() {
      const now = currentState();
      const broken = now.state === 'ready' && pools.get(now.path)?.isBroken === true;
      const nodegit = broken ? 'failed' : now.state;
      const gitVersion = await currentVersion();
      return { mode, active: activeOf(mode, nodegit === 'ready', gitVersion !== null), nodegit, gitVersion };
    },

    async close() {
      await Promise.all([...pools.values()].map((pool) => pool.close()));
    },
  };
}

function activeOf(mode: ProverMode, nodegit: boolean, git: boolean): ProverReport['active'] {
  if (mode === 'git') return git ? 'git' : 'none';
  if (mode === 'nodegit') return nodegit ? 'nodegit' : 'none';
  if (nodegit && git) return 'git+nodegit';
  if (mode === 'both') return 'none';
  if (nodegit) return 'nodegit';
  return git ? 'git' : 'none';
}
