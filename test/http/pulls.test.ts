import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ErrorCode } from '../../src/errors/index.ts';
import { createHttpLab, git, type HttpLab } from '../support/http-lab.ts';
import { createMemoryForge, issueOf, pullOf, type Side } from '../support/memory-forge.ts';
import { change } from './public-bugs/bug-table.ts';

const memory = createMemoryForge();
let lab: HttpLab;
let plainLab: HttpLab;

beforeAll(async () => {
  lab = await createHttpLab({ forge: memory.forge });
  plainLab = await createHttpLab();
  for (const { repo } of [lab, plainLab])
    await git(repo, 'remote', 'add', 'origin', 'git@forge.example:o/r.git');
});
beforeEach(() => memory.reset());
afterAll(async () => {
  await lab[Symbol.asyncDispose]();
  await plainLab[Symbol.asyncDispose]();
});

const send = async (route: string, query: Record<string, string>, to = lab) => {
  const answer = await to.server.send({ path: `${route}?${new URLSearchParams(query)}` });
  return { status: answer.status, body: answer.body as Record<string, unknown> };
};
const numbersOf = (body: Record<string, unknown>) =>
  (body['items'] as readonly { readonly number: number }[]).map(({ number }) => number);
const day = (number: number) => `2024-01-0${number}T00:00:00Z`;
const repository = { host: 'forge.example', owner: 'o', repo: 'r' };

function fill(): void {
  memory.pulls.push(pullOf(31, day(5)), pullOf(12, day(4)), pullOf(9, day(3), 'alice-dev'));
  memory.issues.push(issueOf(21, day(2)), issueOf(5, null));
}

describe('GET /pulls', () => {
  it('R41: run-pulls-order: has both kinds, newest first, through HTTP as through the library; the limit is asked of both', async () => {
    fill();
    const { status, body } = await send('/pulls', { cwd: lab.repo, limit: '7' });
    expect(status).toBe(200);
    expect(body).toMatchObject({ ok: true, isGit: true, authState: 'authenticated', repository });
    expect(numbersOf(body)).toEqual([31, 12, 9, 21, 5]);
    expect(memory.asked).toEqual(['authentication forge.example', 'pulls o/r 7', 'issues o/r 7']);
    expect(body).toEqual({ ok: true, ...(await lab.service.pulls.list(lab.repo, 7)) });
  });

  it('W1: an item names its repository and the commit of its head', async () => {
    fill();
    const { body } = await send('/pull', { cwd: lab.repo, number: '12' });
    expect(body['item']).toMatchObject({ ...repository, headRefOid: 'a'.repeat(40), baseRefName: 'main' });
  });

  it.each([
    ['0', 1],
    ['-3', 1],
    ['50', 50],
    ['51', 50],
    ['999999999', 50],
  ])('R41: a limit of %s is taken for %i', async (limit, asked) => {
    await send('/pulls', { cwd: lab.repo, limit });
    expect(memory.asked).toContain(`pulls o/r ${asked}`);
  });

  it.each([
    ['run-gh-partial-pulls', 'pulls', [21, 5]],
    ['run-gh-partial-issues', 'issues', [31, 12, 9]],
  ] as const)(
    'R04: %s: one kind that fails is told, never taken for none',
    async (_, side: Side, numbers) => {
      fill();
      memory.failing.set(side, 'forge_unavailable');
      const { status, body } = await send('/pulls', { cwd: lab.repo });
      expect([status, numbersOf(body)]).toEqual([200, numbers]);
      expect(body).toMatchObject({ authState: 'partial', partialSide: side });
      expect(body['error']).toEqual(expect.any(String));
    },
  );

  it.each([
    ['forge_unavailable', 'forge_unavailable', 502],
    ['forge_response_invalid', 'forge_unavailable', 502],
    ['forge_unavailable', 'forge_rate_limited', 503],
    ['forge_rate_limited', 'forge_unavailable', 503],
  ] as const)(
    'R04: pr-forge-error-as-empty: %s and %s are no empty list',
    async (pulls: ErrorCode, issues: ErrorCode, expected) => {
      memory.failing.set('pulls', pulls).set('issues', issues);
      const { status, body } = await send('/pulls', { cwd: lab.repo });
      expect([status, body['ok'], body['items']]).toEqual([expected, false, undefined]);
    },
  );

  it('R41: a token that the forge refuses for both kinds is said, as one that is missing', async () => {
    memory.failing.set('pulls', 'forge_unauthenticated').set('issues', 'forge_unauthenticated');
    const { status, body } = await send('/pulls', { cwd: lab.repo });
    expect([status, body['items'], body['authState']]).toEqual([200, [], 'unauthenticated']);
  });

  it('R41: a limit of the forge is passed on in Retry-After', async () => {
    memory.retryAfter = 77;
    memory.failing.set('pulls', 'forge_rate_limited').set('issues', 'forge_rate_limited');
    const answer = await lab.server.send({ path: `/pulls?${new URLSearchParams({ cwd: lab.repo })}` });
    expect([answer.status, answer.headers['retry-after']]).toEqual([503, '77']);
  });

  it('R41: run-pulls-unauth, run-pulls-nongit, run-pulls-no-cwd: says why nothing was asked', async () => {
    memory.authentication = 'unauthenticated';
    expect(await send('/pulls', { cwd: lab.repo })).toEqual({
      status: 200,
      body: { ok: true, isGit: true, items: [], authState: 'unauthenticated', repository },
    });
    expect(memory.asked).toEqual(['authentication forge.example']);
    expect(await send('/pulls', { cwd: lab.plain })).toEqual({
      status: 200,
      body: { ok: true, isGit: false, items: [], authState: 'no_remote' },
    });
    const without = await send('/pulls', { cwd: plainLab.repo }, plainLab);
    expect(without.body).toMatchObject({ items: [], authState: 'cli_missing' });
    const { status, body } = await send('/pulls', {});
    expect([status, body['error']]).toEqual([400, 'cwd required']);
    expect((await send('/pulls', { cwd: lab.outside })).status).toBe(403);
    expect((await send('/pulls', { cwd: lab.nested })).status).toBe(403);
  });
});

describe('GET /pull', () => {
  it('R21: run-pull-fork: tells a fork and its owner', async () => {
    fill();
    const { status, body } = await send('/pull', { cwd: lab.repo, number: '9', ...repository, owner: 'O' });
    expect(status).toBe(200);
    expect(body['item']).toMatchObject({ number: 9, fork: true, headOwnerLogin: 'alice-dev' });
  });

  it.each([
    ['run-pull-number-abc', { number: 'abc' }, 400, { error: 'number required' }],
    ['run-pull-number-9007199254740993', { number: '9007199254740993' }, 400, { error: 'number required' }],
    ['run-pull-number-empty', { number: '' }, 400, { error: 'number required' }],
    ['pr-bad-number', { number: '1e3' }, 400, { error: 'number required' }],
    ['no number', {}, 400, { error: 'number required' }],
    ['an empty kind', { number: '9', kind: '' }, 400, { error: 'invalid forge kind' }],
    ['half an identity', { number: '9', host: 'x' }, 400, { error: 'incomplete repository identity' }],
    [
      'another repository',
      { number: '9', ...repository, repo: 'x' },
      409,
      { error: 'repository identity changed' },
    ],
    ['run-pull-404', { number: '404' }, 404, { authState: 'error', reason: 'not_found' }],
    ['an issue asked for as a pull request', { number: '21', kind: 'change_request' }, 404, {}],
  ])('R21: %s is refused', async (_, query, expected, fields) => {
    fill();
    const { status, body } = await send('/pull', { cwd: lab.repo, ...query });
    expect(status).toBe(expected);
    expect(body).toMatchObject({ ok: false, ...fields });
  });

  it('R04: run-pull-ambiguous: a number of both kinds is neither, unless the kind is said', async () => {
    fill();
    memory.issues.push(issueOf(12, null));
    const { status, body } = await send('/pull', { cwd: lab.repo, number: '12' });
    expect([status, body['reason']]).toEqual([502, 'ambiguous']);
    expect((await send('/pull', { cwd: lab.repo, number: '12', kind: 'issue' })).status).toBe(200);
  });

  it('R04: one kind that could not be asked leaves the number unknown', async () => {
    fill();
    memory.failing.set('issues', 'forge_unavailable');
    const { status, body } = await send('/pull', { cwd: lab.repo, number: '12' });
    expect([status, body['reason'], body['retryable']]).toEqual([502, 'dependency', true]);
  });

  it('R41: run-pull-nongit: a plain directory has no remote, and a service may ask no forge', async () => {
    const plain = await send('/pull', { cwd: lab.plain, number: '12' });
    expect([plain.status, plain.body['authState']]).toEqual([422, 'no_remote']);
    const without = await send('/pull', { cwd: plainLab.repo, number: '12' }, plainLab);
    expect([without.status, without.body['authState']]).toEqual([503, 'cli_missing']);
  });
});

it('R21: run-create-pr-identity: a pull request of another repository than origin makes no worktree, and the forge is not asked', async () => {
  const pull = { ...repository, owner: 'other', number: 21, headRef: 'main' };
  const { status, body } = await lab.server.send(change('POST', '/worktrees', { cwd: lab.repo, pull }));
  expect([status, body?.['error']]).toEqual([409, 'repository identity changed']);
  expect(memory.asked).toEqual([]);
});
