import type { Authority } from '../authority/authority.ts';
import { inRepository, inRepositoryOrNull } from '../authority/in-repository.ts';
import type { RepositoryCapability } from '../capability/repository-capability.ts';
import { AuthorityError, type ErrorCode, isAuthorityError } from '../errors/index.ts';
import type { Forge, ForgeItem, PullItem } from '../forge/forge.ts';
import { readOriginAddress } from '../git/origin-address.ts';
import { type ForgeIdentity, parseForgeIdentity } from '../git/remote-address.ts';
import type { GitRunner } from '../git/run-git.ts';
import { assertExpectedRepository } from './expected-repository.ts';

/** A pull request or an issue, and the repository it is of. */
export type PlacedItem = ForgeIdentity & (PullItem | ForgeItem);

/** What existing clients are told of the forge (wire contract, 1.1). */
export type ForgeState = 'authenticated' | 'partial' | 'cli_missing' | 'unauthenticated' | 'no_remote';

export interface PullListing {
  /** False for a plain directory. */
  readonly isGit: boolean;
  /** Newest first; up to `limit` of each kind. */
  readonly items: readonly PlacedItem[];
  /** `cli_missing`: this service asks no forge. Unless `authenticated` or `partial`, nothing was asked, and an empty list says nothing. */
  readonly authState: ForgeState;
  readonly repository?: ForgeIdentity;
  /** What could not be listed, and why, when `partial`. */
  readonly partialSide?: 'pulls' | 'issues';
  readonly error?: string;
}

export interface PullQuery {
  readonly number: number;
  /** Default: whichever of both has the number. */
  readonly kind?: ForgeItem['kind'];
  /** Where the caller thinks that it is; refused when it is another repository. */
  readonly expected?: ForgeIdentity;
}

/** Pull requests and issues of the repository that `origin` names. They change nothing, here or there. */
export interface PullRequests {
  /**
   * The open ones. `limit`: 1 to 50.
   * @throws as `Authority.authorizeRepository`, and as the forge when neither kind can be listed
   */
  list(selector: string, limit: number, signal?: AbortSignal): Promise<PullListing>;
  /**
   * @throws `forge_remote_missing` | `identity_changed` (`expected` is another repository) | `forge_not_found` | `forge_not_configured` |
   *   `forge_response_invalid` (details.reason `ambiguous`: both kinds have the number) | as the forge and `Authority.authorizeRepository`
   */
  find(selector: string, query: PullQuery, signal?: AbortSignal): Promise<PlacedItem>;
}

export interface PullRequestsOptions {
  readonly authority: Authority;
  readonly git: GitRunner;
  /** Null: no forge is asked. */
  readonly forge: Forge | null;
}

export function createPullRequests({ authority, git, forge }: PullRequestsOptions): PullRequests {
  return {
    async list(selector, limit, signal) {
      const read = async (capability: RepositoryCapability): Promise<PullListing> => {
        const name = await identityOfOrigin(capability, git, signal);
        if (name === null) return unasked('no_remote');
        if (forge === null) return { ...unasked('cli_missing'), repository: name };
        const authState = await forge.authentication(name.host, signal);
        if (authState !== 'authenticated') return { ...unasked(authState), repository: name };
        return listBoth(forge, name, limit, signal);
      };
      const listing = await inRepositoryOrNull(authority, selector, read, signal);
      return listing ?? { ...unasked('no_remote'), isGit: false };
    },
    find(selector, { number, kind, expected }, signal) {
      const read = async (capability: RepositoryCapability): Promise<PlacedItem> => {
        const name = await identityOfOrigin(capability, git, signal);
        if (name === null) throw new AuthorityError('forge_remote_missing');
        if (expected !== undefined) assertExpectedRepository(name, expected);
        if (forge === null) throw new AuthorityError('forge_not_configured');
        const pull = async () => ({ ...name, ...(await forge.pull(name, number, signal)) });
        const issue = async () => ({ ...name, ...(await forge.issue(name, number, signal)) });
        if (kind !== undefined) return kind === 'issue' ? issue() : pull();
        return onlyOne(await Promise.allSettled([pull(), issue()]));
      };
      return inRepository(authority, selector, read, signal);
    },
  };
}

/** Where the forge keeps what `origin` is fetched from; null when its address names no repository of a forge. */
async function identityOfOrigin(
  capability: RepositoryCapability,
  git: GitRunner,
  signal?: AbortSignal,
): Promise<ForgeIdentity | null> {
  const address = await readOriginAddress(capability, git, signal);
  return address === null ? null : parseForgeIdentity(address);
}

async function listBoth(
  forge: Forge,
  name: ForgeIdentity,
  limit: number,
  signal?: AbortSignal,
): Promise<PullListing> {
  const [pulls, issues] = await Promise.allSettled([
    forge.pulls(name, limit, signal),
    forge.issues(name, limit, signal),
  ]);
  signal?.throwIfAborted();
  if (pulls.status === 'rejected' && issues.status === 'rejected') {
    const error = isCode(issues.reason, 'forge_rate_limited') ? issues.reason : pulls.reason;
    if (isCode(error, 'forge_unauthenticated')) return { ...unasked('unauthenticated'), repository: name };
    throw error;
  }
  const found = [pulls, issues].flatMap((side) => (side.status === 'fulfilled' ? side.value : []));
  const items = found
    .toSorted((left, right) => timeOf(right) - timeOf(left))
    .map((item) => ({ ...name, ...item }));
  const listing = { isGit: true, items, repository: name };
  if (pulls.status === 'rejected') return { ...listing, ...partial('pulls', pulls.reason) };
  if (issues.status === 'rejected') return { ...listing, ...partial('issues', issues.reason) };
  return { ...listing, authState: 'authenticated' };
}

/** @throws what is not a failure of the forge */
function partial(partialSide: 'pulls' | 'issues', reason: unknown) {
  if (!isAuthorityError(reason)) throw reason;
  return { authState: 'partial', partialSide, error: reason.message } as const;
}

/** An answer that did not come says nothing about whether there is one. */
function onlyOne(answers: readonly PromiseSettledResult<PlacedItem>[]): PlacedItem {
  const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
  const failed = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason] : []));
  const unclear = failed.find((reason) => !isCode(reason, 'forge_not_found'));
  if (unclear !== undefined) throw unclear;
  if (found.length > 1)
    throw new AuthorityError('forge_response_invalid', { details: { reason: 'ambiguous' } });
  if (found[0] === undefined) throw failed[0];
  return found[0];
}

function unasked(authState: ForgeState): PullListing {
  return { isGit: true, items: [], authState };
}

function isCode(reason: unknown, code: ErrorCode): boolean {
  return isAuthorityError(reason) && reason.code === code;
}

/** What has no time is the oldest. */
function timeOf({ updatedAt }: ForgeItem): number {
  const time = updatedAt === null ? Number.NaN : Date.parse(updatedAt);
  return Number.isNaN(time) ? 0 : time;
}
