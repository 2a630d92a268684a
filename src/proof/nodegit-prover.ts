import { resolve } from 'node:path/posix';
import type { NodegitPool, NodegitRowQuestion } from './nodegit-pool.ts';
import type { NodegitPlace, NodegitSight } from './nodegit-reply.ts';
import {
  type ObjectNumber,
  type ProverOpinion,
  type ProverQuestion,
  type RepositoryProver,
  repositoryKey,
} from './prover.ts';

/** Asks libgit2, in its own process, whether it opens the held directory as exactly this checkout. */
export function createNodegitProver(pool: NodegitPool): RepositoryProver {
  return {
    async prove(question: ProverQuestion, signal?: AbortSignal): Promise<ProverOpinion> {
      const asked = { descriptor: question.rootDescriptor, row: rowQuestionOf(question) };
      const reply = await pool.ask(asked, repositoryKey(question), signal);
      if (reply.kind === 'refused') return disagree(`libgit2 error ${reply.libgit2Error}`);
      return judge(question, reply.seen);
    },
  };
}

function rowQuestionOf({ worktree, path, commonDirectory }: ProverQuestion): NodegitRowQuestion | null {
  if (worktree === null) return null;
  const { path: commonPath, device, inode } = commonDirectory;
  const expected = { path: commonPath, device: String(device), inode: String(inode) };
  return { main: worktree.mainPath, name: worktree.name, path, commonDirectory: expected };
}

function judge(question: ProverQuestion, seen: NodegitSight): ProverOpinion {
  const { path, root, gitDirectory, commonDirectory, worktree } = question;
  if (seen.bare) return disagree('libgit2 finds a bare repository');
  if (seen.linked !== (worktree !== null)) return disagree('libgit2 finds another kind of checkout');
  const places =
    isPlace(seen.workTree, path, root) &&
    isPlace(seen.gitDirectory, gitDirectory.path, gitDirectory) &&
    isPlace(seen.commonDirectory, commonDirectory.path, commonDirectory);
  if (!places) return disagree('libgit2 finds another repository');
  if (worktree === null) return { agrees: true };
  const { row } = seen;
  // A link that was written relative starts at the administrative directory (gitrepository-layout(5), gitdir).
  const live = row !== null && resolve(gitDirectory.path, row.path) === path && row.valid;
  const listed = live && isPlace(row.commonDirectory, commonDirectory.path, commonDirectory);
  return listed ? { agrees: true } : disagree('libgit2 does not list this worktree as live');
}

/** Both the name and what stood under it when the child looked: either alone can be arranged by somebody who swaps directories. */
function isPlace(seen: NodegitPlace | null, path: string, expected: ObjectNumber): boolean {
  return seen?.path === `${path}/` && seen.device === expected.device && seen.inode === expected.inode;
}

function disagree(seen: string): ProverOpinion {
  return { agrees: false, seen };
}
