import type { BranchName } from '../git/values.ts';

const branchPullFields = `number url title state isDraft isCrossRepository baseRefName headRefName headRefOid
  headRepositoryOwner { login } mergeable reviewDecision
  commits(last: 1) { nodes { commit { statusCheckRollup { state contexts(first: 1) {
    totalCount checkRunCountsByState { state count } statusContextCountsByState { state count } } } } } }`;

const mergedFields = 'number isCrossRepository headRefName headRefOid';

export interface BranchQuestion {
  readonly query: string;
  readonly variables: Readonly<Record<string, string>>;
}

/** One question for the pull requests of many branches. Names go as variables only, never into the text of the question. */
export function branchQuestion(
  kind: 'newest' | 'merged',
  owner: string,
  repo: string,
  heads: readonly BranchName[],
): BranchQuestion {
  const [fields, filter, first] =
    kind === 'newest' ? [branchPullFields, '', 10] : [mergedFields, 'states: [MERGED], ', 20];
  const parts = heads.map(
    (_, index) =>
      `b${index}: pullRequests(headRefName: $h${index}, ${filter}first: ${first}, orderBy: {field: CREATED_AT, direction: DESC}) { nodes { ${fields} } }`,
  );
  const declared = heads.map((_, index) => `, $h${index}: String!`).join('');
  return {
    query: `query ${kind}Pulls($owner: String!, $repo: String!${declared}) { repository(owner: $owner, name: $repo) { ${parts.join(' ')} } }`,
    variables: { owner, repo, ...Object.fromEntries(heads.map((head, index) => [`h${index}`, head])) },
  };
}
