import { dirname } from 'node:path/posix';
import { AuthorityError, isAuthorityError } from '../errors/index.ts';
import { type CommandPlace, proofCommands } from '../git/proof-commands.ts';
import type { GitCommand, GitRunner } from '../git/run-git.ts';
import { HangMemory } from './hang-memory.ts';
import { type ProverOpinion, type ProverQuestion, type RepositoryProver, repositoryKey } from './prover.ts';

const agreement: ProverOpinion = { agrees: true };

/**
 * Asks the Git program: where does it find itself when it starts in the held directory, and what is the first row of its worktree
 * list. Nothing is pinned by GIT_DIR: finding the repository is the question. Works for every format this Git reads.
 */
export function createGitProver(git: GitRunner): RepositoryProver {
  const hangs = new HangMemory();
  return {
    async prove(question: ProverQuestion, signal?: AbortSignal): Promise<ProverOpinion> {
      const key = repositoryKey(question);
      if (hangs.has(key)) throw unavailable('hung-before');
      const ask = (command: GitCommand) => answerOf(git, command, () => hangs.remember(key), signal);
      const place: CommandPlace = {
        directory: question.rootDescriptor,
        ceilingDirectory: dirname(question.path),
      };
      const [location, rows, keys] = await Promise.all([
        ask(proofCommands.locate(place)),
        ask(proofCommands.worktreeList(place)),
        ask(proofCommands.configurationKeys(place)),
      ]);
      return judgeLocation(question, location) ?? judgeRows(question, rows) ?? judgeKeys(keys) ?? agreement;
    },
  };
}

/** Null when Git ran and refused. @throws `prover_unavailable` when Git gave no answer */
async function answerOf(
  git: GitRunner,
  command: GitCommand,
  onHang: () => void,
  signal?: AbortSignal,
): Promise<Buffer | null> {
  try {
    const result = await git.run(command, signal);
    return result.exitCode === 0 ? result.stdout : null;
  } catch (error) {
    if (!isAuthorityError(error) || error.code === 'aborted') throw error;
    const reason = error.details['reason'] ?? error.code;
    if (reason === 'deadline') onHang();
    throw unavailable(reason, error);
  }
}

function unavailable(reason: unknown, cause?: unknown): AuthorityError {
  return new AuthorityError('prover_unavailable', { details: { prover: 'git', reason }, cause });
}

function judgeLocation(question: ProverQuestion, output: Buffer | null): ProverOpinion | null {
  if (output === null) return disagree('git finds no repository');
  const { path, gitDirectory, commonDirectory } = question;
  const expected = Buffer.from(`${path}\n${gitDirectory.path}\n${commonDirectory.path}\nfalse\ntrue\n`);
  return output.equals(expected) ? null : disagree('git finds another repository');
}

/** Fields end with NUL, rows with an empty field; the first row is the main checkout (git-worktree(1), "Porcelain format"). */
function judgeRows(question: ProverQuestion, output: Buffer | null): ProverOpinion | null {
  if (output === null) return disagree('git lists no worktrees');
  const rows = output.toString('latin1').split('\0\0');
  if (!isLiveRow(rows[0], mainPathOf(question))) {
    return disagree('the first row of the worktree list is another');
  }
  if (question.worktree === null) return null;
  const live = rows.slice(1).some((row) => isLiveRow(row, question.path));
  return live ? null : disagree('git does not list this worktree as live');
}

/** A separate Git dir stands for the main checkout: Git knows no way back from it. */
function mainPathOf({ path, gitDirectory, worktree }: ProverQuestion): string {
  if (worktree !== null) return worktree.mainPath;
  return gitDirectory.path === `${path}/.git` ? path : gitDirectory.path;
}

function isLiveRow(row: string | undefined, path: string): boolean {
  const [worktree, ...attributes] = (row ?? '').split('\0');
  if (worktree !== Buffer.from(`worktree ${path}`).toString('latin1')) return false;
  return !attributes.some((attribute) => attribute === 'bare' || /^prunable(?: |$)/.test(attribute));
}

/** A last check of our reading of the configuration: Git must not know a setting there that leads elsewhere. */
function judgeKeys(output: Buffer | null): ProverOpinion | null {
  if (output === null) return disagree('git cannot read the configuration');
  const fields = output.toString('latin1').split('\0');
  for (let index = 0; index + 1 < fields.length; index += 2) {
    const key = fields[index + 1] as string;
    if (fields[index] !== 'command' && /^(?:include(?:if)?\.|core\.worktree$)/.test(key)) {
      return disagree('git reads a setting that leads elsewhere');
    }
  }
  return null;
}

function disagree(seen: string): ProverOpinion {
  return { agrees: false, seen };
}
