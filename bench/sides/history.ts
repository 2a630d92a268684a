import { git, makeRepository } from './repository.ts';

/** Branches that exist on both sides. */
export const pairs = 40;
/** Of those, how many the local side is ahead in. */
export const diverging = 8;
/** Commits of the branch that is checked out over its base, half of which are pushed. */
export const ownCommits = 100;

/** A repository with a remote that was fetched, whose branch `topic` is checked out. */
export async function makeHistory(root: string): Promise<void> {
  await makeRepository(root);
  await git(root, 'remote', 'add', 'origin', '/nonexistent/origin.git');
  const tree = (await git(root, 'rev-parse', 'HEAD^{tree}')).trim();
  const commits = [(await git(root, 'rev-parse', 'HEAD')).trim()];
  const identity = ['-c', 'user.name=bench', '-c', 'user.email=bench@example.invalid'];
  for (let count = 1; count <= ownCommits; count += 1) {
    const words = ['commit-tree', '-p', commits[count - 1] ?? '', '-m', `commit ${count}`, tree];
    commits.push((await git(root, ...identity, ...words)).trim());
  }
  const at = async (ref: string, index: number) => git(root, 'update-ref', ref, commits[index] ?? '');
  await at('refs/remotes/origin/main', 0);
  await at('refs/heads/topic', ownCommits);
  await at('refs/remotes/origin/topic', ownCommits / 2);
  for (let pair = 2; pair < pairs; pair += 1) {
    await at(`refs/heads/branch-${pair}`, pair <= diverging ? pair : 1);
    await at(`refs/remotes/origin/branch-${pair}`, 1);
    await track(root, `branch-${pair}`);
  }
  await track(root, 'topic');
  await git(root, 'symbolic-ref', 'HEAD', 'refs/heads/topic');
  await git(root, 'pack-refs', '--all');
}

async function track(root: string, branch: string): Promise<void> {
  await git(root, 'config', `branch.${branch}.remote`, 'origin');
  await git(root, 'config', `branch.${branch}.merge`, `refs/heads/${branch}`);
}
