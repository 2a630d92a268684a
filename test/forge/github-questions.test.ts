import { describe, expect, it } from 'vitest';
import type { Forge, PullDetail } from '../../src/forge/forge.ts';
import { createGitHubForge } from '../../src/forge/github-forge.ts';
import { type BranchName, type CommitOid, parseBranchName, parseCommitOid } from '../../src/git/values.ts';
import { type Asked, type LoopbackAnswers, sendJson, serveAnswers } from './loopback-answers.ts';

const name = { host: 'forge.example', owner: 'owner', repo: 'repo' };
const oid = 'a'.repeat(40) as CommitOid;
const branch = (text: string): BranchName => parseBranchName(text) ?? expect.fail(text);
const site = 'https://forge.example/owner/repo';

const issue = (number: number, more: object = {}) => ({
  number,
  title: `issue ${number}`,
  html_url: `${site}/issues/${number}`,
  state: 'open',
  body: 'text',
  labels: [],
  updated_at: '2026-01-02T03:04:05Z',
  ...more,
});

const pull = (number: number, ref: string, headRepository: number) => ({
  ...issue(number),
  html_url: `${site}/pull/${number}`,
  node_id: `PR_${number}`,
  draft: false,
  merged_at: null,
  base: { ref: 'main', repo: { id: 1 } },
  head: { ref, sha: oid, repo: { id: headRepository, owner: { login: 'owner' } } },
});

interface Answer {
  readonly status?: number;
  readonly body: unknown;
}

/** A forge whose server answers each question by its method and path, in turn where there are several. */
async function forgeOf(answers: Readonly<Record<string, readonly Answer[]>>) {
  const left = new Map(Object.entries(answers).map(([question, list]) => [question, [...list]]));
  const server = await serveAnswers(({ method, url }, response) => {
    const list = left.get(`${method} ${url.replace(/\?.*/, '')}`) ?? [];
    const { status = 200, body } = (list.length > 1 ? list.shift() : list[0]) ?? { status: 418, body: null };
    sendJson(response, body, status);
  });
  const apiUrl = `${server.origin}/api/v3`;
  return { forge: createGitHubForge({ 'forge.example': { apiUrl, token: () => 'token' } }), server };
}

const repository = '/api/v3/repos/owner/repo';
const bodyOf = (asked: Asked | undefined) => JSON.parse(asked?.body ?? 'null');
const codeOf = (call: Promise<unknown>) =>
  call.then(
    () => 'ok',
    (error: { code?: string }) => error.code,
  );

interface Row {
  readonly title: string;
  readonly answers: Readonly<Record<string, readonly Answer[]>>;
  ask(forge: Forge): Promise<unknown>;
  readonly expected: unknown;
  readonly asked?: (server: LoopbackAnswers) => void;
}

const reads: readonly Row[] = [
  {
    title: 'issues come without the pull requests among them',
    answers: {
      [`GET ${repository}/issues`]: [{ body: [issue(1), issue(2, { pull_request: {} }), issue(3)] }],
    },
    ask: async (forge) => (await forge.issues(name, 5)).map(({ number }) => number),
    expected: [1, 3],
  },
  {
    title: 'run-gh-issues-disabled: a repository whose issues are off has none',
    answers: { [`GET ${repository}/issues`]: [{ status: 410, body: { message: 'Issues are disabled' } }] },
    ask: (forge) => forge.issues(name, 5),
    expected: [],
  },
  {
    title: 'a repository that is not there has no issues to list',
    answers: { [`GET ${repository}/issues`]: [{ status: 404, body: { message: 'Not Found' } }] },
    ask: (forge) => codeOf(forge.issues(name, 5)),
    expected: 'forge_not_found',
  },
  {
    title: 'a pull request is no issue',
    answers: { [`GET ${repository}/issues/2`]: [{ body: issue(2, { pull_request: {} }) }] },
    ask: (forge) => codeOf(forge.issue(name, 2)),
    expected: 'forge_not_found',
  },
  {
    title: 'a repository has an id, a default branch, and the one that it was forked from',
    answers: {
      [`GET ${repository}`]: [
        {
          body: {
            id: 9,
            name: 'renamed',
            owner: { login: 'owner' },
            default_branch: 'trunk',
            parent: { name: 'repo', owner: { login: 'upstream' } },
          },
        },
      ],
    },
    ask: (forge) => forge.repository(name),
    expected: {
      id: '9',
      name: { ...name, repo: 'renamed' },
      defaultBranch: 'trunk',
      parent: { ...name, owner: 'upstream' },
    },
  },
  {
    title: 'of the open pull requests of a branch those of forks are left out',
    answers: { [`GET ${repository}/pulls`]: [{ body: [pull(4, 'topic', 2), pull(5, 'topic', 1)] }] },
    ask: async (forge) => (await forge.openPullsOf(name, branch('topic'))).map(({ number }) => number),
    expected: [5],
    asked: ({ asked }) => expect(asked[0]?.url).toContain(`head=${encodeURIComponent('owner:topic')}`),
  },
  {
    title: 'a reading that meets a 503 is asked once again',
    answers: { [`GET ${repository}/pulls/5`]: [{ status: 503, body: {} }, { body: pull(5, 'topic', 1) }] },
    ask: async (forge) => (await forge.pull(name, 5)).number,
    expected: 5,
    asked: ({ asked }) => expect(asked).toHaveLength(2),
  },
];

it.each(reads)('R21: $title', async ({ answers, ask, expected, asked }) => {
  const { forge, server } = await forgeOf(answers);
  await using _server = server;
  expect(await ask(forge)).toEqual(expected);
  asked?.(server);
});

const graphql = 'POST /api/graphql';
const branchPull = {
  number: 8,
  url: `${site}/pull/8`,
  title: 'Title',
  state: 'MERGED',
  isDraft: false,
  isCrossRepository: false,
  baseRefName: 'main',
  headRefName: 'topic',
  headRefOid: oid,
  headRepositoryOwner: { login: 'owner' },
  mergeable: 'UNKNOWN',
  reviewDecision: null,
  commits: {
    nodes: [
      {
        commit: {
          statusCheckRollup: {
            state: 'PENDING',
            contexts: {
              totalCount: 3,
              checkRunCountsByState: [
                { state: 'IN_PROGRESS', count: 1 },
                { state: 'SUCCESS', count: 2 },
              ],
              statusContextCountsByState: [],
            },
          },
        },
      },
    ],
  },
};

describe('many branches by one question', () => {
  const heads = [branch('topic'), branch('other')];
  const answer = (topic: readonly object[]): Answer => ({
    body: { data: { repository: { b0: { nodes: topic }, b1: { nodes: [] } } } },
  });

  it('R21: tells the newest pull request of each and its checks; names are variables, never text of the question', async () => {
    const fork = { ...branchPull, number: 9, isCrossRepository: true };
    const { forge, server } = await forgeOf({ [graphql]: [answer([fork, branchPull])] });
    await using _server = server;
    const found = await forge.branchPulls(name, heads);
    expect([...found.keys()]).toEqual(['topic']);
    expect(found.get(branch('topic'))).toMatchObject({
      number: 8,
      state: 'merged',
      checks: { status: 'pending', completed: 2, total: 3 },
    });
    expect(server.asked).toHaveLength(1);
    const { query, variables } = bodyOf(server.asked[0]);
    expect(variables).toEqual({ owner: 'owner', repo: 'repo', h0: 'topic', h1: 'other' });
    expect(query).not.toMatch(/topic|other/);
  });

  it('R21: tells with which head a branch was merged', async () => {
    const { forge, server } = await forgeOf({ [graphql]: [answer([branchPull])] });
    await using _server = server;
    expect(await forge.mergedPulls(name, heads)).toEqual([
      { number: 8, headRefName: 'topic', headRefOid: oid },
    ]);
  });

  it.each([
    ['NOT_FOUND', 'forge_not_found'],
    ['RATE_LIMITED', 'forge_rate_limited'],
    ['FORBIDDEN', 'forge_unauthenticated'],
    [undefined, 'forge_response_invalid'],
  ])('R04: an error of type %s beside data is %s, never an answer in part', async (type, code) => {
    const { body } = answer([branchPull]);
    const { forge, server } = await forgeOf({
      [graphql]: [{ body: { ...(body as object), errors: [{ type, message: 'no' }] } }],
    });
    await using _server = server;
    expect(await codeOf(forge.branchPulls(name, heads))).toBe(code);
  });
});

describe('changes', () => {
  const request = {
    title: '--web',
    body: '@/etc/passwd',
    base: branch('main'),
    head: branch('topic'),
    isDraft: true,
  };

  it('R21: pr-option-in-title: a pull request is made of literal text', async () => {
    const { forge, server } = await forgeOf({
      [`POST ${repository}/pulls`]: [{ status: 201, body: pull(5, 'topic', 1) }],
    });
    await using _server = server;
    expect((await forge.createPull(name, request)).number).toBe(5);
    const { isDraft: draft, ...same } = request;
    expect(bodyOf(server.asked[0])).toEqual({ ...same, draft });
  });

  it.each([
    ['is there already is named', 'A pull request already exists for owner:topic.', 'pull_request_exists'],
    ['breaks a rule is refused', 'No commits between main and topic', 'forge_refused'],
  ])('R21: pr-duplicate-create: one that %s', async (_, message, code) => {
    const { forge, server } = await forgeOf({
      [`POST ${repository}/pulls`]: [
        { status: 422, body: { message: 'Validation Failed', errors: [{ message }] } },
      ],
      [`GET ${repository}/pulls`]: [{ body: [pull(5, 'topic', 1)] }],
    });
    await using _server = server;
    expect(await codeOf(forge.createPull(name, request))).toBe(code);
  });

  it('R21: a change that meets a 503 is not asked again', async () => {
    const { forge, server } = await forgeOf({ [`POST ${repository}/pulls`]: [{ status: 503, body: {} }] });
    await using _server = server;
    expect(await codeOf(forge.createPull(name, request))).toBe('forge_unavailable');
    expect(server.asked).toHaveLength(1);
  });

  const detail = { nodeId: 'PR_5', number: 5 } as PullDetail;
  const merging = { method: 'squash', expectedHead: oid } as const;

  it('R21: a merge gives the head that it is for, and says what it made', async () => {
    const merged = 'c'.repeat(40);
    const { forge, server } = await forgeOf({
      [`PUT ${repository}/pulls/5/merge`]: [{ body: { merged: true, sha: merged } }],
    });
    await using _server = server;
    expect(await forge.mergePull(name, 5, merging)).toEqual({ mergedOid: parseCommitOid(merged) });
    expect(bodyOf(server.asked[0])).toEqual({ merge_method: 'squash', sha: oid });
  });

  it('R21: a merge that is wanted later names its head, and is refused in the words of the forge', async () => {
    const { forge, server } = await forgeOf({
      [graphql]: [
        { body: { data: {} } },
        { body: { errors: [{ type: 'UNPROCESSABLE', message: 'not allowed' }] } },
      ],
      [`GET ${repository}/pulls/5`]: [{ body: pull(5, 'topic', 1) }],
    });
    await using _server = server;
    await forge.enableAutoMerge(detail, name, merging);
    expect(bodyOf(server.asked[0]).variables).toEqual({ pull: 'PR_5', method: 'SQUASH', head: oid });
    await expect(forge.enableAutoMerge(detail, name, merging)).rejects.toMatchObject({
      code: 'forge_refused',
      details: { message: 'not allowed' },
    });
    await expect(forge.disableAutoMerge(detail, name)).rejects.toMatchObject({ code: 'forge_refused' });
  });
});
