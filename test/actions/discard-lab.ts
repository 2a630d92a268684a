import type { DiscardOutcome, DiscardPreview, DiscardRequest } from '../../src/actions/repository-actions.ts';
import { isAuthorityError } from '../../src/errors/index.ts';
import type { Service } from '../../src/service.ts';
import { git } from '../support/git.ts';
import { readTree } from '../support/tree.ts';

/** What the first request for a discard says it would destroy. */
export async function previewOf(
  { actions }: Service,
  repo: string,
  request: DiscardRequest = {},
): Promise<DiscardPreview> {
  try {
    await actions.discard(repo, request);
  } catch (error) {
    if (isAuthorityError(error) && error.code === 'confirmation_required') {
      return error.details as unknown as DiscardPreview;
    }
    throw error;
  }
  throw new Error('it was done without a confirmation');
}

export async function discardConfirmed(
  service: Service,
  repo: string,
  request: DiscardRequest = {},
): Promise<DiscardOutcome> {
  const { token } = await previewOf(service, repo, request);
  return await service.actions.discard(repo, { ...request, token });
}

/** Files, index and status of a repository. */
export async function stateOf(repo: string): Promise<object> {
  const tree = (await readTree(repo)).filter((line) => !line.startsWith('.git/'));
  const index = await git(repo, 'ls-files', '-s');
  return { tree, index, status: await git(repo, 'status', '--porcelain=v1', '--ignored') };
}

export async function commitAll(repo: string): Promise<void> {
  await git(repo, 'add', '-A');
  await git(repo, 'commit', '-qm', 'prepared');
}
