import { existsSync } from 'node:fs';
import { mkdir, rename, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createHttpLab, git, type HttpLab, makeRepository } from '../support/http-lab.ts';
import { addPluginWorktree } from '../support/http-worktrees.ts';

/** The routes that the rows name and that are not offered yet are replaced by others, which need the same authority. */
describe('the cases of the wire contract on worktrees that the plugin made', () => {
  let lab: HttpLab;
  beforeAll(async () => {
    lab = await createHttpLab();
  });
  afterAll(() => lab[Symbol.asyncDispose]());

  it('R02: sec-managed-unregistered: a managed worktree is usable before it has a row', async () => {
    const path = await addPluginWorktree(lab.repo, lab.pluginRoot, 'managed-1');
    const answer = await lab.server.send({ path: `/snapshot?cwd=${encodeURIComponent(path)}` });
    expect([answer.status, answer.body]).toMatchObject([200, { ok: true, snapshot: { managed: true } }]);
  });

  it('R02: sec-managed-registered: with a row of its own it stays managed', async () => {
    const path = await addPluginWorktree(lab.repo, lab.pluginRoot, 'managed-2');
    await lab.service.workspaces?.add(path);
    const answer = await lab.server.send({ path: `/detect?path=${encodeURIComponent(path)}` });
    expect(answer.body).toMatchObject({ ok: true, managed: true });
    await using capability = await lab.service.authority.authorize(path);
    expect(capability.kind).toBe('managed-worktree');
  });

  it('R02: sec-managed-main-unregistered: it loses authority with its source', async () => {
    const main = join(lab.sandbox, 'source');
    await makeRepository(main);
    await lab.service.workspaces?.add(main);
    const path = await addPluginWorktree(main, lab.pluginRoot, 'managed');
    const request = { path: `/snapshot?cwd=${encodeURIComponent(path)}` };
    expect((await lab.server.send(request)).status).toBe(200);
    await lab.service.workspaces?.remove(main);
    const answer = await lab.server.send(request);
    expect([answer.status, answer.body?.['error']]).toEqual([403, 'workspace not authorized']);
  });

  it('R25: sec-root-symlink-validate: a rebound hash directory makes nothing managed', async () => {
    const main = join(lab.sandbox, 'rebound');
    await makeRepository(main);
    await lab.service.workspaces?.add(main);
    const path = await addPluginWorktree(main, lab.pluginRoot, 'escaped');
    const [hashDirectory, attacker] = [dirname(path), join(lab.sandbox, 'attacker')];
    await rename(hashDirectory, attacker);
    await symlink(attacker, hashDirectory);
    // Git follows the link, so that to it the worktree is as good as before.
    expect(await git(path, 'rev-parse', '--abbrev-ref', 'HEAD')).toBe('escaped\n');
    for (const route of ['/detect?path', '/list?cwd', '/worktrees?cwd']) {
      const answer = await lab.server.send({ path: `${route}=${encodeURIComponent(path)}` });
      expect([route, answer.status, answer.body?.['code']]).toEqual([route, 403, 'workspace_not_authorized']);
    }
    await git(main, 'worktree', 'repair', join(attacker, 'escaped'));
    const there = encodeURIComponent(join(attacker, 'escaped'));
    expect((await lab.server.send({ path: `/detect?path=${there}` })).body).toMatchObject({
      isLinkedWorktree: true,
      managed: false,
    });
  });

  it('R26: sec-poison-snapshot: metadata of a main checkout is never read', async () => {
    const sentinel = join(lab.sandbox, 'sentinel');
    const poison = {
      version: 1,
      branch: 'main',
      baseRef: `--output=${sentinel}`,
      baseRefName: `--output=${sentinel}`,
    };
    await mkdir(join(lab.repo, '.git/dsh-worktree'));
    await writeFile(join(lab.repo, '.git/dsh-worktree/worktree.json'), JSON.stringify(poison));
    const answer = await lab.server.send({ path: `/snapshot?cwd=${encodeURIComponent(lab.repo)}` });
    expect([answer.status, answer.body]).toMatchObject([
      200,
      { snapshot: { managed: false, baseRefName: 'main', degraded: [] } },
    ]);
    expect(existsSync(sentinel)).toBe(false);
  });

  it('R41: run-worktrees-list: a managed worktree lists itself as managed', async () => {
    const path = await addPluginWorktree(lab.repo, lab.pluginRoot, 'wt1');
    const { status, body } = await lab.server.send({ path: `/worktrees?cwd=${encodeURIComponent(path)}` });
    expect(status).toBe(200);
    const item = expect.objectContaining({ path, managed: true, current: true, baseRefName: 'main' });
    expect(body).toMatchObject({ ok: true, mainRepoRoot: lab.repo, items: expect.arrayContaining([item]) });
  });
});
