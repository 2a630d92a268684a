import type { z } from 'zod';
import { AuthorityError, isAuthorityError } from '../errors/index.ts';
import type { ForgeIdentity } from '../git/remote-address.ts';
import { type BranchName, parseBranchName } from '../git/values.ts';
import { AnswerCache } from './answer-cache.ts';
import { branchQuestion } from './branch-questions.ts';
import type { BranchPull, Forge, ForgeItem } from './forge.ts';
import { assertForgeHosts, type ForgeHosts, forgeHostOf } from './forge-hosts.ts';
import {
  branchPullAnswer,
  checked,
  issueAnswer,
  issuesAnswer,
  mergedPullAnswer,
  partsOf,
  pullAnswer,
  pullsAnswer,
  repositoryAnswer,
} from './github-answers.ts';
import { createGitHubChanges } from './github-changes.ts';
import { GitHubClient, graphqlFailureOf } from './github-client.ts';
import { readFailureOf, statusOf } from './github-failures.ts';
import { branchPullOf, identityOf, issueOf, oidOf, pullDetailOf, pullOf } from './github-items.ts';

/** Pages of issues that are read at most until the list is full: they come with pull requests among them. */
const mostIssuePages = 4;
const mostHeads = 100;

/**
 * The forge that GitHub is, at github.com or anywhere else the operator names.
 * @throws TypeError for an address to which a token must not go
 */
export function createGitHubForge(hosts: ForgeHosts): Forge {
  assertForgeHosts(hosts);
  const clients = new Map<string, GitHubClient>();
  const cache = new AnswerCache();

  const clientOf = (host: string): GitHubClient => {
    const key = host.toLowerCase();
    const client = clients.get(key) ?? new GitHubClient(forgeHostOf(hosts, host));
    clients.set(key, client);
    return client;
  };

  const read = async (
    name: ForgeIdentity,
    rest: string,
    more: Record<string, unknown>,
    signal?: AbortSignal,
  ) => {
    const parameters = { owner: name.owner, repo: name.repo, ...more };
    const route = `GET /repos/{owner}/{repo}${rest}`;
    try {
      return (await clientOf(name.host).ask({ route, parameters, signal })).data;
    } catch (error) {
      throw readFailureOf(error);
    }
  };

  const list = async <Value>(
    name: ForgeIdentity,
    rest: string,
    more: Record<string, unknown>,
    schema: z.ZodType<Value>,
    signal?: AbortSignal,
  ): Promise<Value> => {
    const parameters = {
      owner: name.owner,
      repo: name.repo,
      state: 'open',
      sort: 'updated',
      direction: 'desc',
      ...more,
    };
    const renew = async (etag?: string) => {
      try {
        const question = { route: `GET /repos/{owner}/{repo}${rest}`, parameters, ...(etag ? { etag } : {}) };
        const answer = await clientOf(name.host).ask(question);
        return { value: checked(schema, answer.data), etag: answer.etag };
      } catch (error) {
        if (statusOf(error) === 304) return null;
        throw readFailureOf(error);
      }
    };
    return await cache.get(`${keyOf(name)}${rest}?${JSON.stringify(more)}`, renew, signal);
  };

  const ofBranches = async <Part>(
    kind: 'newest' | 'merged',
    name: ForgeIdentity,
    heads: readonly BranchName[],
    part: z.ZodType<Part>,
    signal?: AbortSignal,
  ): Promise<readonly (readonly [BranchName, readonly Part[]])[]> => {
    if (heads.length > mostHeads) throw new RangeError(`more than ${mostHeads} branches`);
    if (heads.length === 0) return [];
    const { query, variables } = branchQuestion(kind, name.owner, name.repo, heads);
    const data = await clientOf(name.host).graphql(query, variables, graphqlFailureOf, signal);
    const { repository } = checked(partsOf(part), data);
    return heads.map((head, index) => {
      const found = repository[`b${index}`];
      if (found === undefined) throw new AuthorityError('forge_response_invalid');
      return [head, found.nodes] as const;
    });
  };

  const reads: Omit<Forge, 'createPull' | 'mergePull' | 'enableAutoMerge' | 'disableAutoMerge'> = {
    async authentication(host, signal) {
      if (!Object.hasOwn(hosts, host.toLowerCase())) return 'no_remote';
      const client = clientOf(host);
      if (!(await client.hasToken())) return 'unauthenticated';
      try {
        // Costs nothing of the limit it tells.
        await client.ask({ route: 'GET /rate_limit', signal });
        return 'authenticated';
      } catch (error) {
        const failure = readFailureOf(error);
        if (failure.code === 'forge_unauthenticated') return 'unauthenticated';
        // GitHub Enterprise with its limits off has no such answer (404), to those whom it knows.
        if (failure.code === 'forge_not_found') return 'authenticated';
        throw failure;
      }
    },

    async repository(name, signal) {
      const answer = checked(repositoryAnswer, await read(name, '', {}, signal));
      const { id, parent, default_branch: branch } = answer;
      return {
        id,
        name: identityOf(name.host, answer),
        defaultBranch: branch ? parseBranchName(branch) : null,
        parent: parent ? identityOf(name.host, parent) : null,
      };
    },

    async pulls(name, limit, signal) {
      const answers = await list(name, '/pulls', { per_page: limit }, pullsAnswer, signal);
      return answers.slice(0, limit).map((answer) => pullOf(name.host, answer));
    },

    async issues(name, limit, signal) {
      const found: ForgeItem[] = [];
      for (let page = 1; page <= mostIssuePages && found.length < limit; page += 1) {
        const answers = await list(name, '/issues', { per_page: 100, page }, issuesAnswer, signal).catch(
          noneWhereOff,
        );
        const issues = answers.filter(({ pull_request }) => pull_request === undefined);
        found.push(...issues.map((answer) => issueOf(name.host, answer)));
        if (answers.length < 100) break;
      }
      return found.slice(0, limit);
    },

    async pull(name, number, signal) {
      const answer = checked(
        pullAnswer,
        await read(name, '/pulls/{pull_number}', { pull_number: number }, signal),
      );
      if (answer.number !== number) throw new AuthorityError('forge_response_invalid');
      return pullDetailOf(name.host, answer);
    },

    async issue(name, number, signal) {
      const answer = checked(
        issueAnswer,
        await read(name, '/issues/{issue_number}', { issue_number: number }, signal),
      );
      if (answer.pull_request !== undefined) throw new AuthorityError('forge_not_found');
      if (answer.number !== number) throw new AuthorityError('forge_response_invalid');
      return issueOf(name.host, answer);
    },

    async openPullsOf(name, head, signal) {
      const more = {
        state: 'open',
        head: `${name.owner}:${head}`,
        sort: 'created',
        direction: 'desc',
        per_page: 100,
      };
      const answers = checked(pullsAnswer, await read(name, '/pulls', more, signal));
      const own = answers.filter(
        (answer) => answer.head.ref === head && answer.head.repo?.id === answer.base.repo.id,
      );
      return own.map((answer) => pullDetailOf(name.host, answer));
    },

    async branchPulls(name, heads, signal) {
      const found = new Map<BranchName, BranchPull>();
      for (const [head, pulls] of await ofBranches('newest', name, heads, branchPullAnswer, signal)) {
        const own = pulls.find((pull) => !pull.isCrossRepository && pull.headRefName === head);
        if (own !== undefined) found.set(head, branchPullOf(name.host, own));
      }
      return found;
    },

    async mergedPulls(name, heads, signal) {
      const parts = await ofBranches('merged', name, heads, mergedPullAnswer, signal);
      return parts.flatMap(([head, pulls]) =>
        pulls
          .filter((pull) => !pull.isCrossRepository && pull.headRefName === head)
          .map(({ number, headRefOid }) => ({ number, headRefName: head, headRefOid: oidOf(headRefOid) })),
      );
    },

    invalidate: (name) => cache.forget(keyOf(name)),
  };
  return { ...reads, ...createGitHubChanges(clientOf, reads) };
}

/** A repository whose issues are off answers 410 to the list of them; one that is not there, 404. */
function noneWhereOff(error: unknown): readonly never[] {
  if (isAuthorityError(error) && error.code === 'forge_not_found' && error.details['status'] === 410)
    return [];
  throw error;
}

/** Without regard to case, as forges take it; the end keeps `a/b` from being the beginning of `a/bc`. */
function keyOf({ host, owner, repo }: ForgeIdentity): string {
  return `${host}/${owner}/${repo}#`.toLowerCase();
}
