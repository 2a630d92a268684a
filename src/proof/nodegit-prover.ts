import type { NodegitPool } from './nodegit-pool.ts';
import type { NodegitPlace } from './nodegit-reply.ts';
import {
  type ObjectNumber,
  type ProverOpinion,
  type ProverQuestion,
  type RepositoryProver,
  repositoryKey,
} from './prover.ts';

/** Asks libgit2, in its own process, whether it opens the held directory as exactly this main checkout. */
export function createNodegitProver(pool: NodegitPool): RepositoryProver {
  return {
    async prove(question: ProverQuestion, signal?: AbortSignal): Promise<ProverOpinion> {
      const { gitDirectory } = question;
      const reply = await pool.ask(question.rootDescriptor, repositoryKey(question), signal);
      if (reply.kind === 'refused') return disagree(`libgit2 error ${reply.libgit2Error}`);
      const { seen } = reply;
      if (seen.bare) return disagree('libgit2 finds a bare repository');
      if (seen.linked) return disagree('libgit2 finds a linked worktree');
      const places =
        isPlace(seen.workTree, `${question.path}/`, question.root) &&
        isPlace(seen.gitDirectory, `${question.path}/.git/`, gitDirectory) &&
        isPlace(seen.commonDirectory, `${question.path}/.git/`, gitDirectory);
      return places ? { agrees: true } : disagree('libgit2 finds another repository');
    },
  };
}

/** Both the name and what stood under it when the child looked: either alone can be arranged by somebody who swaps directories. */
function isPlace(seen: NodegitPlace | null, path: string, expected: ObjectNumber): boolean {
  return seen?.path === path && seen.device === expected.device && seen.inode === expected.inode;
}

function disagree(seen: string): ProverOpinion {
  return { agrees: false, seen };
}
