import { chmod, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { keptName } from '../../src/capability/transaction-name.ts';
import type { RecoveryReport } from '../../src/files/workspace-files.ts';
import { beneath, openWorkspace, outcomeOf, text, type Workspace } from '../support/files-workspace.ts';
import { leftoverName, livingOwner } from '../support/leftovers.ts';
import { makeTree } from '../support/tree.ts';
import { creating, leftoverRows, namedRows, removing, replacing } from './leftover-rows.ts';

async function plant(root: string, name: string, tree: readonly string[]): Promise<void> {
  await makeTree(
    root,
    tree.map((line) => line.replace('TMP', name)),
  );
}

/** The result in the words of a row. */
function inWords(name: string, lines: readonly string[]): readonly string[] {
  return lines.map((line) => line.replace(keptName(name, 0), 'KEPT').replace(name, 'TMP')).sort();
}

function actionsOf(report: RecoveryReport, name: string): readonly string[] {
  return inWords(
    name,
    report.actions.map(({ action, path }) => `${action} ${path}`),
  );
}

describe('recovery', () => {
  it.each([...leftoverRows, ...namedRows].map((row) => [row.when, row] as const))(
    'R14, R15: finishes or undoes what a dead process left: %s',
    async (_, { parts, tree, after, actions }) => {
      const workspace = await openWorkspace();
      const { files, capability, root } = workspace;
      const name = leftoverName(parts);
      await plant(root, name, tree);
      const before = await workspace.tree();

      const preview = await files.recover(capability, { dryRun: true });
      expect(await workspace.tree()).toEqual(before);
      const report = await files.recover(capability);
      expect(actionsOf(report, name)).toEqual([...actions].sort());
      expect(inWords(name, await workspace.tree())).toEqual([...after].sort());
      expect(report.complete).toBe(true);
      // The preview says the same, but for the place, which only the doing can tell.
      expect(preview.actions.map(({ action, reason }) => [action, reason])).toEqual(
        report.actions.map(({ action, reason }) => [action, reason]),
      );

      const again = await files.recover(capability);
      expect([again.actions, again.complete]).toEqual([[], true]);
      expect(inWords(name, await workspace.tree())).toEqual([...after].sort());
    },
  );

  it('R15: an incomplete new file is told from foreign content by its mode and the base that still stands', async () => {
    const { files, capability, root, tree } = await openWorkspace({ tree: ['f: old'] });
    const [ours, foreign] = [leftoverName(replacing), leftoverName(replacing)];
    await writeFile(join(root, ours), 'ne', { mode: 0o600 });
    await writeFile(join(root, foreign), 'foreign', { mode: 0o644 });
    await files.recover(capability);
    expect(await tree()).toEqual([`${keptName(foreign, 0)}: foreign`, 'f: old']);
  });

  it('R15: what cannot be read is kept', async () => {
    const { files, capability, root, tree } = await openWorkspace({ tree: ['f: new'] });
    const name = leftoverName(replacing);
    await mkdir(join(root, name));
    await chmod(join(root, name), 0);
    const { actions } = await files.recover(capability);
    expect(actions.map(({ action }) => action)).toEqual(['kept']);
    expect(await tree()).toEqual([`${keptName(name, 0)}/`, 'f: new']);
  });

  it('R15: a kept file never takes the name of another', async () => {
    const { files, capability, root, tree } = await openWorkspace({ tree: ['f: new'] });
    const name = leftoverName(replacing);
    await plant(root, name, ['TMP: foreign']);
    await writeFile(join(root, keptName(name, 0)), 'earlier');
    const { actions } = await files.recover(capability);
    expect(actions[0]?.path).toBe(keptName(name, 1));
    expect(await tree()).toEqual(
      [`${keptName(name, 0)}: earlier`, `${keptName(name, 1)}: foreign`, 'f: new'].sort(),
    );
  });

  it('R15: a recovery file is listed and can be read, moved and removed like any file', async () => {
    const { files, capability, root } = await openWorkspace({ tree: ['f: new'] });
    const name = leftoverName(replacing);
    await plant(root, name, ['TMP: foreign']);
    const { entries } = await files.list(capability, null);
    const kept = keptName(name, 0);
    expect(entries.map(({ name: listed }) => listed)).toEqual([kept, 'f']);
    const reading = await files.read(capability, beneath(kept));
    await files.rename(capability, beneath(kept), beneath('rescued'));
    await files.remove(capability, beneath('rescued'), { etag: reading.etag });
    expect(await readdir(root)).toEqual(['f']);
  });
});

describe('what belongs to somebody', () => {
  const owners = [
    ['a process that runs', livingOwner({ pid: String(process.ppid), startTime: '' })],
    ['another instance in this process', livingOwner()],
    ['a process in another namespace, lately', livingOwner({ pidNamespace: '1' })],
  ] as const;

  it.each(owners)('R15: is not touched: %s', async (_, owner) => {
    const workspace = await openWorkspace({ tree: ['f: old'] });
    const startTime = owner.startTime === '' ? await startTimeOf(owner.pid) : owner.startTime;
    const name = leftoverName({ ...replacing, owner: { ...owner, startTime } });
    await plant(workspace.root, name, ['TMP: new']);
    const before = await workspace.tree();
    const report = await workspace.files.recover(workspace.capability);
    expect(actionsOf(report, name)).toEqual(['owner-alive TMP']);
    expect(await workspace.tree()).toEqual(before);
  });

  it('R15: is settled once its owner, in another namespace, cannot be at work any more', async () => {
    const now = () => Date.now() + 2 * 60 * 60 * 1000;
    const { files, capability, root, tree } = await openWorkspace({ tree: ['f: old'], files: { now } });
    await plant(root, leftoverName({ ...replacing, owner: livingOwner({ pidNamespace: '1' }) }), [
      'TMP: new',
    ]);
    await files.recover(capability);
    expect(await tree()).toEqual(['f: old']);
  });

  it('R15: this process never takes its own running changes for leftovers', async () => {
    const { files, capability, tree } = await openWorkspace({ tree: ['f: base'] });
    const large = Buffer.alloc(1024 * 1024, 'x');
    const { etag } = await files.read(capability, beneath('f'));
    const save = outcomeOf(files.replace(capability, beneath('f'), large, { etag }));
    const recoveries = await Promise.all(Array.from({ length: 20 }, () => files.recover(capability)));
    expect(await save).toBe('ok');
    const actions = recoveries.flatMap((report) => report.actions.map(({ action }) => action));
    expect(actions.filter((action) => action !== 'owner-alive')).toEqual([]);
    expect(await tree()).toEqual([`f: ${large}`]);
  });
});

describe('the walk', () => {
  it('reaches every open directory, undecodable ones too, and no closed one, link or outside', async () => {
    const { files, capability, root, outside, tree } = await openWorkspace({
      tree: [
        'a/b/f: old',
        'a/f: old',
        'real.git/HEAD: x',
        'real.git/objects/',
        'real.git/refs/',
        '.git/f: old',
        'out -> $OUT',
      ],
      outside: ['f: old'],
    });
    const odd = Buffer.concat([Buffer.from(`${root}/odd`), Buffer.of(0xff)]);
    await mkdir(odd);
    const name = leftoverName(replacing);
    const places = [root, `${root}/a`, `${root}/a/b`, `${root}/real.git`, `${root}/.git`, outside];
    for (const place of places) await writeFile(join(place, name), 'new');
    await writeFile(Buffer.concat([odd, Buffer.from(`/${name}`)]), 'new');
    const report = await files.recover(capability);
    expect(report.actions.map(({ path }) => path).sort()).toEqual(
      [name, `a/${name}`, `a/b/${name}`, `odd\ufffd/${name}`].sort(),
    );
    expect([report.directoriesExamined, report.complete]).toEqual([4, true]);
    await rm(odd, { recursive: true });
    expect((await tree()).filter((line) => line.includes(name))).toEqual([
      `.git/${name}: new`,
      `real.git/${name}: new`,
    ]);
    expect((await readdir(outside)).sort()).toEqual([name, 'f'].sort());
  });

  it('says when it did not see everything', async () => {
    const { files, capability } = await openWorkspace({ tree: ['a/x', 'b/x', 'c/d/x'] });
    expect(await files.recover(capability, { directoryLimit: 3 })).toMatchObject({
      directoriesExamined: 3,
      complete: false,
    });
    expect(await files.recover(capability, { directoryLimit: 5 })).toMatchObject({
      directoriesExamined: 5,
      complete: true,
    });
  });

  it('ends with the caller', async () => {
    const { files, capability } = await openWorkspace({ tree: ['a/x'] });
    expect(await outcomeOf(files.recover(capability, { signal: AbortSignal.abort() }))).toBe('aborted');
  });

  it('takes away a trial of the exchange that was cut off, once it cannot be running, and nothing else', async () => {
    let now = Date.now();
    const { files, capability, root, tree } = await openWorkspace({ files: { now: () => now } });
    const probes = ['0', '1'].map((digit) => `.wa-probe-${digit.repeat(32)}`) as [string, string];
    await makeTree(root, [
      `${probes[0]}/first: the first file`,
      `${probes[0]}/second: `,
      `${probes[1]}/precious: x`,
    ]);
    const before = await tree();
    expect((await files.recover(capability)).actions.map(({ action }) => action)).toEqual([
      'owner-alive',
      'owner-alive',
    ]);
    expect(await tree()).toEqual(before);
    now += 2 * 60_000;
    const report = await files.recover(capability);
    expect([report.actions.map(({ action }) => action), report.complete]).toEqual([
      ['removed', 'kept'],
      false,
    ]);
    expect(await tree()).toEqual([`${probes[1]}/`, `${probes[1]}/precious: x`]);
  });
});

describe('directories that are used for the first time', () => {
  const uses: Readonly<Record<string, (workspace: Workspace) => Promise<unknown>>> = {
    list: ({ files, capability }) => files.list(capability, beneath('d')),
    create: ({ files, capability }) => files.create(capability, beneath('d/g'), text('x')),
    replace: ({ files, capability }) => files.replace(capability, beneath('d/h'), text('x'), {}),
    rename: ({ files, capability }) => files.rename(capability, beneath('d/h'), beneath('d/i')),
    'rename into': ({ files, capability }) => files.rename(capability, beneath('e'), beneath('d/e')),
    mkdir: ({ files, capability }) => files.makeDirectory(capability, beneath('d/j')),
  };

  it.each(Object.keys(uses))('write-temp-left: %s settles what was left there', async (use) => {
    const workspace = await openWorkspace({ tree: ['d/h: h', 'e'] });
    await plant(join(workspace.root, 'd'), leftoverName(replacing), ['f: old', 'TMP: new']);
    await plant(join(workspace.root, 'd'), leftoverName({ ...removing, target: 'gone' }), ['TMP: old']);
    await uses[use]?.(workspace).catch(() => undefined);
    const names = await readdir(join(workspace.root, 'd'));
    expect(names.filter((name) => name.startsWith('.wa-'))).toEqual([]);
    expect(names).toEqual(
      expect.arrayContaining(['f', 'gone', 'h'].filter((name) => name !== 'h' || use !== 'rename')),
    );
  });

  it('write-temp-left: a directory that holds only leftovers is empty and can be removed', async () => {
    const { files, capability, root, tree } = await openWorkspace({ tree: ['d/'] });
    await plant(join(root, 'd'), leftoverName(creating), ['TMP: new']);
    await files.removeDirectory(capability, beneath('d'));
    expect(await tree()).toEqual([]);
  });

  it('write-temp-left: leftovers of a process that dies later are settled at the next listing', async () => {
    const { files, capability, root } = await openWorkspace({ tree: ['f: old'] });
    await files.list(capability, null);
    await plant(root, leftoverName(replacing), ['TMP: new']);
    for (let look = 0; look < 2; look += 1) {
      const { entries } = await files.list(capability, null);
      expect(entries.map(({ name }) => name)).toEqual(['f']);
    }
    expect(await readdir(root)).toEqual(['f']);
  });

  it('an obstacle to settling does not fail the listing', async () => {
    const { files, capability, root } = await openWorkspace({ tree: ['f: old'] });
    const name = leftoverName({ ...removing, target: 'x/y'.replace('/', '\\') });
    await symlink('nowhere', join(root, name));
    expect(await outcomeOf(files.list(capability, null))).toBe('ok');
  });
});

async function startTimeOf(pid: string): Promise<string> {
  const stat = await readFile(`/proc/${pid}/stat`, 'latin1');
  return stat.slice(stat.lastIndexOf(')')).split(' ')[20] ?? '';
}
