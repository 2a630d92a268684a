import type { RepositoryCapability } from '../capability/repository-capability.ts';
import { isAuthorityError } from '../errors/index.ts';
import type { Authority } from './authority.ts';

/**
 * Turns a selector into the capability of a Git root, works under it, and answers only when it is still what was authorised: Git ran where
 * the name may lead elsewhere by now.
 * @throws as `Authority.authorizeRepository`, `FileCapability.assertCurrent`, and what the work throws
 */
export async function inRepository<Result>(
  authority: Authority,
  selector: string,
  use: (capability: RepositoryCapability) => Promise<Result>,
  signal?: AbortSignal,
): Promise<Result> {
  return answerUnder(await authority.authorizeRepository(selector, signal), use, signal);
}

/** The same where a plain directory is an answer too: null. A nested one stays `git_root_not_authorized`. */
export async function inRepositoryOrNull<Result>(
  authority: Authority,
  selector: string,
  use: (capability: RepositoryCapability) => Promise<Result>,
  signal?: AbortSignal,
): Promise<Result | null> {
  const capability = await authority.authorizeRepository(selector, signal).catch((error: unknown) => {
    if (isAuthorityError(error) && error.code === 'git_repository_required') return null;
    throw error;
  });
  return capability && answerUnder(capability, use, signal);
}

async function answerUnder<Result>(
  held: RepositoryCapability,
  use: (capability: RepositoryCapability) => Promise<Result>,
  signal: AbortSignal | undefined,
): Promise<Result> {
  await using capability = held;
  const result = await use(capability);
  await capability.assertCurrent(signal);
  return result;
}
