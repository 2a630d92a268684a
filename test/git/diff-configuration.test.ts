import { copyFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { git } from '../support/git.ts';
import { numbers, useDiffLab } from './diff-lab.ts';
import { setAttributes } from './git-lab.ts';

const here = useDiffLab();
const { put, commitAll, oidOf } = here;

describe('W15, W18, W30: configuration', () => {
  const tastes = [
    'diff.mnemonicPrefix=true',
    'diff.noprefix=true',
    'diff.context=0',
    'diff.interHunkContext=9',
    'diff.algorithm=patience',
    'diff.renames=false',
    'diff.renameLimit=1',
    'diff.orderFile=.git/order',
    'diff.relative=true',
    'diff.submodule=log',
    'diff.suppressBlankEmpty=true',
    'diff.wordRegex=.',
    'diff.colorMoved=zebra',
    'diff.ignoreSubmodules=all',
    'diff.statGraphWidth=3',
    'core.quotePath=true',
    'core.abbrev=5',
    'color.ui=always',
    'status.showUntrackedFiles=no',
  ];

  it('no taste and no program of a repository changes a diff', async () => {
    const { path } = here;
    await put('b/changed', numbers(1, 20));
    await put('moved', numbers(100, 140));
    await put('é', '1\n\n2\n');
    await commitAll();
    await put('b/changed', numbers(1, 20).replace('4\n', '').replace('15\n', 'x\n'));
    await rename(join(path, 'moved'), join(path, 'z'));
    await git(path, 'add', '-A');
    await put('é', '1\n\n3\n');
    await put('new', '1\n');
    const before = await here.lab.diff(path);
    expect(before.files).toHaveLength(4);
    const marker = `${path}-marker`;
    const program = `${path}-program`;
    await writeFile(program, `#!/bin/sh\n: > '${marker}'\necho run\n`, { mode: 0o755 });
    await put('.git/order', '*z\n');
    for (const taste of tastes) await git(path, 'config', ...(taste.split('=') as [string, string]));
    await git(path, 'config', 'diff.external', program);
    await git(path, 'config', 'diff.q.textconv', program);
    await git(path, 'config', 'diff.q.command', program);
    await git(path, 'config', 'core.fsmonitor', program);
    await setAttributes(path, 'changed diff=q\n');
    expect(await here.lab.diff(path)).toEqual(before);
    await expect(copyFile(marker, `${marker}-1`)).rejects.toThrow('ENOENT');
    // By itself Git runs them.
    await git(path, 'diff', 'HEAD');
    await copyFile(marker, `${marker}-2`);
  });

  it('W18: a filter that the repository names is refused with its key, and not run', async () => {
    const { path } = here;
    await put('k', '1\n');
    await commitAll();
    await git(path, 'config', 'filter.z.clean', '/bin/false');
    await put('k', '2\n');
    const refused = here.lab.diff(path);
    await expect(refused).rejects.toMatchObject({
      code: 'untrusted_repository_config',
      details: { use: 'work-tree', keys: ['filter.z.clean'] },
    });
    // Stored trees pass through no filter.
    expect((await here.lab.diff(path, { mode: 'base', base: 'main' })).files).toEqual([]);
  });

  it('W15: a blob that is not there is a failure, and nothing is fetched for it', async () => {
    const { path } = here;
    await put('k', 'one\n');
    await commitAll();
    const blob = await oidOf('HEAD:k');
    await put('k', 'two\n');
    const second = await commitAll();
    const marker = `${path}-fetched`;
    await writeFile(`${path}-pack`, `#!/bin/sh\n: > '${marker}'\n`, { mode: 0o755 });
    await git(path, 'config', 'extensions.partialClone', 'far');
    await git(path, 'config', 'core.repositoryFormatVersion', '1');
    await git(path, 'config', 'remote.far.url', `file://${path}`);
    await git(path, 'config', 'remote.far.promisor', 'true');
    await git(path, 'config', 'remote.far.uploadpack', `${path}-pack`);
    await rm(join(path, '.git/objects', blob.slice(0, 2), blob.slice(2)));
    await expect(here.lab.commit(path, second)).rejects.toMatchObject({ code: 'git_failed' });
    await expect(copyFile(marker, `${marker}-2`)).rejects.toThrow('ENOENT');
  });
});

describe('W32: memory', () => {
  it('a diff of 140 MB is read without being kept', async () => {
    const { path } = here;
    const line = `${'x'.repeat(99)}\n`;
    for (const name of ['a', 'b']) await put(name, line.repeat(700_000));
    const big = await commitAll();
    const started = process.memoryUsage().rss;
    let peak = started;
    const watch = setInterval(() => {
      peak = Math.max(peak, process.memoryUsage().rss);
    }, 5);
    const answer = await here.lab.commit(path, big);
    clearInterval(watch);
    expect(answer.files.map((file) => [file.status, file.additions])).toEqual([
      ['too_large', 700_000],
      ['too_large', 700_000],
    ]);
    expect(peak - started).toBeLessThan(90 * 1024 * 1024);
  }, 60_000);
});
