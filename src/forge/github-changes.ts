import { AuthorityError } from '../errors/index.ts';
import type { CommitOid } from '../git/values.ts';
import type { Forge, MergeMethod } from './forge.ts';
import { checked, mergeAnswer, pullAnswer } from './github-answers.ts';
import type { GitHubClient } from './github-client.ts';
import { changeFailureOf, messageOf, refusal, statusOf } from './github-failures.ts';
import { oidOf, pullDetailOf } from './github-items.ts';

type Changes = Pick<Forge, 'createPull' | 'mergePull' | 'enableAutoMerge' | 'disableAutoMerge'>;

const autoMergeOn = `mutation enableAutoMerge($pull: ID!, $method: PullRequestMergeMethod!, $head: GitObjectID!) {
  enablePullRequestAutoMerge(input: {pullRequestId: $pull, mergeMethod: $method, expectedHeadOid: $head}) { clientMutationId } }`;

const autoMergeOff = `mutation disableAutoMerge($pull: ID!) {
  disablePullRequestAutoMerge(input: {pullRequestId: $pull}) { clientMutationId } }`;

/** What changes pull requests. Nothing of it is asked a second time by itself. */
export function createGitHubChanges(
  clientOf: (host: string) => GitHubClient,
  reads: Pick<Forge, 'pull' | 'openPullsOf' | 'invalidate'>,
): Changes {
  return {
    async createPull(name, { title, body, base, head, isDraft }, signal) {
      const { owner, repo } = name;
      const parameters = { owner, repo, title, body, base, head, draft: isDraft };
      try {
        const route = 'POST /repos/{owner}/{repo}/pulls';
        const { data } = await clientOf(name.host).ask({ route, parameters, signal });
        return pullDetailOf(name.host, checked(pullAnswer, data));
      } catch (error) {
        if (statusOf(error) !== 422 || !/already exists/i.test(messageOf(error)))
          throw changeFailureOf(error);
        const open = await reads.openPullsOf(name, head, signal);
        const same = open.find(({ baseRefName }) => baseRefName === base);
        if (same === undefined) throw changeFailureOf(error);
        throw new AuthorityError('pull_request_exists', { details: { number: same.number, url: same.url } });
      } finally {
        reads.invalidate(name);
      }
    },

    async mergePull(name, number, { method, expectedHead }, signal) {
      const { owner, repo } = name;
      const parameters = { owner, repo, pull_number: number, merge_method: method, sha: expectedHead };
      try {
        const route = 'PUT /repos/{owner}/{repo}/pulls/{pull_number}/merge';
        const { data } = await clientOf(name.host).ask({ route, parameters, signal });
        const { sha } = checked(mergeAnswer, data);
        return { mergedOid: sha ? oidOf(sha) : null };
      } catch (error) {
        if (statusOf(error) === 409) await assertHead(reads.pull(name, number, signal), expectedHead);
        throw changeFailureOf(error);
      } finally {
        reads.invalidate(name);
      }
    },

    async enableAutoMerge(pull, name, { method, expectedHead }, signal) {
      const variables = { pull: pull.nodeId, method: upper(method), head: expectedHead };
      try {
        await clientOf(name.host).graphql(autoMergeOn, variables, (_, message) => refusal(message), signal);
      } catch (error) {
        if (error instanceof AuthorityError && error.code === 'forge_refused')
          await assertHead(reads.pull(name, pull.number, signal), expectedHead);
        throw changeFailureOf(error);
      } finally {
        reads.invalidate(name);
      }
    },

    async disableAutoMerge(pull, name, signal) {
      try {
        const variables = { pull: pull.nodeId };
        await clientOf(name.host).graphql(autoMergeOff, variables, (_, message) => refusal(message), signal);
      } finally {
        reads.invalidate(name);
      }
    },
  };
}

async function assertHead(asked: ReturnType<Forge['pull']>, expectedHeadOid: CommitOid): Promise<void> {
  const { headRefOid: headOid } = await asked;
  if (headOid !== expectedHeadOid)
    throw new AuthorityError('pull_request_head_moved', { details: { expectedHeadOid, headOid } });
}

function upper(method: MergeMethod): string {
  return method.toUpperCase();
}
