import { inspect } from 'node:util';
import { expect, it, vi } from 'vitest';
import { isAuthorityError } from '../../src/errors/index.ts';
import type { Forge } from '../../src/forge/forge.ts';
import { createGitHubForge } from '../../src/forge/github-forge.ts';
import { parseCommitOid } from '../../src/git/values.ts';
import { verifiedPullsOf } from '../../src/service/verified-pulls-of.ts';
import { type Asked, type LoopbackAnswers, sendJson, serveAnswers } from './loopback-answers.ts';

const token = 'ghp_this-must-never-be-seen';
const name = { host: 'forge.example', owner: 'owner', repo: 'repo' };
const oid = 'a'.repeat(40);

const pull = {
  id: 1,
  node_id: 'PR_1',
  number: 7,
  title: 'Title',
  html_url: 'https://forge.example/owner/repo/pull/7',
  state: 'open',
  body: null,
  labels: [{ name: 'bug' }],
  updated_at: '2026-01-02T03:04:05Z',
  draft: true,
  merged_at: null as string | null,
  base: { ref: 'main', repo: { id: 1 } },
  head: {
    ref: 'feature',
    sha: oid,
    user: { login: 'other' },
    repo: { id: 2, owner: { login: 'other' } } as object | null,
  },
};

type Answer = Parameters<typeof serveAnswers>[0];

async function forgeOf(answer: Answer): Promise<{ forge: Forge; server: LoopbackAnswers }> {
  const server = await serveAnswers(answer);
  const host = { apiUrl: `${server.origin}/api/v3`, token: () => token };
  return { forge: createGitHubForge({ 'forge.example': host }), server };
}

async function failureOf(call: Promise<unknown>): Promise<string> {
  const error = await call.then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(inspect(error, { depth: 12, showHidden: true })).not.toContain(token);
  return isAuthorityError(error) ? error.code : `not ours: ${inspect(error)}`;
}

const pulls: readonly (readonly [string, object, object])[] = [
  [
    'a fork',
    {},
    { fork: true, headOwnerLogin: 'other', headRepositoryId: '2', state: 'open', isDraft: true },
  ],
  [
    'a deleted fork',
    { head: { ...pull.head, repo: null } },
    { fork: null, headOwnerLogin: null, headRepositoryId: null },
  ],
  ['a merged one', { state: 'closed', merged_at: '2026-01-02T03:04:05Z' }, { state: 'merged' }],
  ['a closed one', { state: 'closed' }, { state: 'closed' }],
  [
    'one of the same repository',
    { head: { ...pull.head, repo: { id: 1, owner: { login: 'owner' } } } },
    { fork: false, headOwnerLogin: 'owner' },
  ],
];

it.each(pulls)('R21: the detail of %s is what the forge says now', async (_, changes, expected) => {
  const { forge, server } = await forgeOf((_asked, response) => sendJson(response, { ...pull, ...changes }));
  await using _server = server;
  const detail = await forge.pull(name, 7);
  expect(detail).toMatchObject({ number: 7, headRefOid: oid, headRefName: 'feature', ...expected });
  expect(server.asked[0]).toMatchObject({
    url: '/api/v3/repos/owner/repo/pulls/7',
    headers: { authorization: `Bearer ${token}` },
  });
});

const text =
  (body: string, status = 200, type = 'application/json', headers: Record<string, string> = {}): Answer =>
  (_, response) => {
    response.writeHead(status, { 'content-type': type, ...headers });
    response.end(body);
  };
const json =
  (changes: object): Answer =>
  (_, response) =>
    sendJson(response, { ...pull, ...changes });

const hostile: readonly (readonly [string, string, Answer])[] = [
  ['HTML instead of JSON', 'forge_response_invalid', text('<html>', 200, 'text/html')],
  ['truncated JSON', 'forge_response_invalid', text('{"number": 7, "ti')],
  ['JSON null', 'forge_response_invalid', text('null')],
  ['an error that is JSON null', 'forge_response_invalid', text('null', 400)],
  [
    'a body that ends too early',
    'forge_unavailable',
    text('{}', 200, 'application/json', { 'content-length': '99' }),
  ],
  ['9 MiB', 'forge_response_invalid', text(`"${'x'.repeat(9 * 1024 * 1024)}"`)],
  ['500', 'forge_unavailable', text('{}', 500)],
  ['503 with HTML', 'forge_unavailable', text('<html>', 503, 'text/html')],
  ['401', 'forge_unauthenticated', text('{"message":"Bad credentials"}', 401)],
  ['404', 'forge_not_found', text('{"message":"Not Found"}', 404)],
  ['a secondary limit', 'forge_rate_limited', text('{"message":"secondary rate limit"}', 403)],
  ['429', 'forge_rate_limited', text('{}', 429, 'application/json', { 'retry-after': '7' })],
  [
    'an option as a branch',
    'forge_response_invalid',
    json({ head: { ...pull.head, ref: '--upload-pack=x' } }),
  ],
  ['a newline in a branch', 'forge_response_invalid', json({ head: { ...pull.head, ref: 'a\nb' } })],
  ['a base that is no branch', 'forge_response_invalid', json({ base: { ...pull.base, ref: 'a..b' } })],
  ['a short commit', 'forge_response_invalid', json({ head: { ...pull.head, sha: 'abc1234' } })],
  ['another number', 'forge_response_invalid', json({ number: 8 })],
  ['a number as text', 'forge_response_invalid', json({ number: '7' })],
  ['a script as address', 'forge_response_invalid', json({ html_url: 'javascript:alert(1)' })],
  ['an address of another host', 'forge_response_invalid', json({ html_url: 'https://evil.example/7' })],
  ['no merged_at', 'forge_response_invalid', json({ merged_at: undefined })],
];

it.each(hostile)('R21: %s from a forge is %s', async (_, code, answer) => {
  const { forge, server } = await forgeOf(answer);
  await using _server = server;
  expect(await failureOf(forge.pull(name, 7))).toBe(code);
});

it('R21: a redirect to another host is refused, and that host is asked nothing', async () => {
  await using other = await serveAnswers((_, response) => sendJson(response, pull));
  const { forge, server } = await forgeOf(
    text('', 301, 'text/html', { location: `${other.origin}/repositories/1/pulls/7` }),
  );
  await using _server = server;
  expect(await failureOf(forge.pull(name, 7))).toBe('forge_response_invalid');
  expect(other.asked).toEqual([]);
});

it('R21: a renamed repository is followed by its id once, and a chain is refused', async () => {
  let isChain = false;
  const redirected = (asked: Asked) => isChain || !asked.url.includes('/repositories/');
  const { forge, server } = await forgeOf((asked, response) => {
    if (!redirected(asked)) return sendJson(response, pull);
    response.writeHead(301, { location: '/api/v3/repositories/1/pulls/7' }).end();
  });
  await using _server = server;
  expect((await forge.pull(name, 7)).number).toBe(7);
  isChain = true;
  expect(await failureOf(forge.pull(name, 7))).toBe('forge_response_invalid');
});

it('R21: lists are shared, kept, and asked again after a change', async () => {
  const { forge, server } = await forgeOf((_, response) => sendJson(response, [pull], 200, { etag: '"1"' }));
  await using _server = server;
  const [one, two] = await Promise.all([forge.pulls(name, 20), forge.pulls(name, 20)]);
  expect([one, two, await forge.pulls(name, 20)]).toEqual([one, one, one]);
  expect(server.asked).toHaveLength(1);
  forge.invalidate({ ...name, owner: 'OWNER' });
  await forge.pulls(name, 20);
  expect(server.asked).toHaveLength(2);
});

it('R21: a list that is 30 s old is asked again by its tag, and kept where it is the same', async () => {
  const { forge, server } = await forgeOf((asked, response) => {
    if (asked.headers['if-none-match'] === '"1"') response.writeHead(304).end();
    else sendJson(response, [pull], 200, { etag: '"1"' });
  });
  await using _server = server;
  const first = await forge.pulls(name, 20);
  const later = performance.now() + 30_001;
  const time = vi.spyOn(performance, 'now').mockReturnValue(later);
  try {
    expect(await forge.pulls(name, 20)).toEqual(first);
    expect(server.asked.map(({ headers }) => headers['if-none-match'])).toEqual([undefined, '"1"']);
  } finally {
    time.mockRestore();
  }
});

it('R21: a merge whose head moved tells both commits', async () => {
  const moved = 'b'.repeat(40);
  const { forge, server } = await forgeOf((asked, response) => {
    if (asked.method === 'PUT') return sendJson(response, { message: 'Head branch was modified.' }, 409);
    sendJson(response, { ...pull, head: { ...pull.head, sha: moved } });
  });
  await using _server = server;
  const expectedHead = parseCommitOid(oid) ?? expect.fail('no commit');
  const error = await forge
    .mergePull(name, 7, { method: 'squash', expectedHead })
    .catch((reason: unknown) => reason);
  expect(error).toMatchObject({
    code: 'pull_request_head_moved',
    details: { expectedHeadOid: oid, headOid: moved },
  });
});

it('R21: a host that no operator named is asked nothing, and no token goes over plain http', async () => {
  const forge = createGitHubForge({});
  expect(await forge.authentication('github.com')).toBe('no_remote');
  expect(await failureOf(forge.pull({ ...name, host: 'github.com' }, 7))).toBe('forge_not_configured');
  expect(() =>
    createGitHubForge({ 'a.example': { apiUrl: 'http://a.example/api', token: () => token } }),
  ).toThrow(TypeError);
});

const origins: readonly (readonly [string, string])[] = [
  ['https://forge.example/Owner/repo.git', 'ok'],
  ['git@forge.example:owner/REPO', 'ok'],
  ['https://other.example/owner/repo', 'identity_changed'],
  ['https://forge.example/owner/other', 'identity_changed'],
  ['/srv/repo.git', 'identity_changed'],
];

it.each(origins)('R21: with origin %s the pull request of a caller is: %s', async (origin, expected) => {
  const { forge, server } = await forgeOf((_, response) => sendJson(response, pull));
  await using _server = server;
  const asked = verifiedPullsOf(forge).verify({ ...name, number: 7, headRef: 'evil' }, origin);
  if (expected !== 'ok') {
    expect(await failureOf(asked)).toBe(expected);
    expect(server.asked).toEqual([]);
    return;
  }
  expect(await asked).toEqual({
    number: 7,
    headOid: oid,
    headRef: 'feature',
    baseRef: 'main',
    forkOwner: 'other',
    remoteRef: 'refs/pull/7/head',
  });
});

it('R21: the branch of a deleted fork never has the name of one of this repository', async () => {
  const { forge, server } = await forgeOf((_, response) =>
    sendJson(response, { ...pull, head: { ...pull.head, repo: null } }),
  );
  await using _server = server;
  const origin = 'https://forge.example/owner/repo';
  const verified = await verifiedPullsOf(forge).verify({ ...name, number: 7, headRef: 'x' }, origin);
  expect(verified.forkOwner).toBe('deleted-fork');
});
