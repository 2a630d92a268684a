import { mkdir, open, readFile, writeFile } from 'node:fs/promises';
import { constants } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { base, changes } from '../support/file-changes.ts';
import {
  beneath,
  openWorkspace,
  outcomeOf,
  refusalOf,
  text,
  type Workspace,
} from '../support/files-workspace.ts';
import { mayMount, mountBind, mountTmpfs, remountReadOnly } from '../support/mounts.ts';
import { testBinding } from '../support/test-binding.ts';
import { makeTree } from '../support/tree.ts';

afterEach(() => testBinding.setFault(null));

describe('a file system that cannot exchange names', () => {
  it.each(['EINVAL', 'ENOSYS', 'EPERM'] as const)(
    'R16: with %s every change is refused and nothing is changed',
    async (errno) => {
      const workspace = await openWorkspace({ tree: ['f: old', 'empty/'] });
      const action = { errno: constants.errno[errno] };
      testBinding.setFault({ syscall: 'renameat2', occurrence: 1, when: 'before', action });
      for (const change of Object.values(changes)) {
        const refusal = await refusalOf(change(workspace));
        expect(refusal.code).toBe('atomic_exchange_unavailable');
        expect(refusal.message).toMatch(/^atomic file exchange unavailable/);
        expect(refusal.details).toMatchObject({
          syscall: 'renameat2',
          errno,
          hint: expect.stringMatching(/\w+ \w+/),
        });
      }
      expect(await workspace.tree()).toEqual(['empty/', 'f: old']);
      expect(await outcomeOf(workspace.files.read(workspace.capability, beneath('f')))).toBe('ok');
    },
  );

  it('R16: a trial that failed for another reason proves nothing and is repeated', async () => {
    const workspace = await openWorkspace({ tree: ['f: old', 'empty/'] });
    const action = { errno: constants.errno.ENOSPC };
    testBinding.setFault({ syscall: 'mkdirat', occurrence: 1, when: 'before', action });
    expect(await outcomeOf(changes.replace(workspace))).toBe('no_space');
    expect(await outcomeOf(changes.replace(workspace))).toBe('ok');
  });

  it('R16: an exchange that fails at the commit itself changes nothing either', async () => {
    const workspace = await openWorkspace({ tree: ['f: old'] });
    await workspace.held.exchangeSupport();
    const action = { errno: constants.errno.EINVAL };
    testBinding.setFault({ syscall: 'renameat2', occurrence: 1, when: 'before', action });
    expect(await outcomeOf(changes.replace(workspace))).toBe('atomic_exchange_unavailable');
    expect(await workspace.tree()).toEqual(['f: old']);
  });
});

describe.skipIf(!mayMount)('a full or read-only file system', () => {
  async function onTmpfs(size: string): Promise<Workspace> {
    const outer = await openWorkspace();
    const root = join(outer.root, 'mounted');
    await mountTmpfs(root, size);
    await makeTree(root, ['f: old', 'empty/']);
    return openWorkspace({ root });
  }

  it('write-enospc: a full disk refuses new content and keeps the old, whole', async () => {
    const workspace = await onTmpfs('1m');
    const { files, capability, root } = workspace;
    await writeFile(join(root, 'filler'), Buffer.alloc(700 * 1024));
    const large = Buffer.alloc(600 * 1024, 'x');
    expect(await outcomeOf(files.replace(capability, beneath('f'), large, base))).toBe('no_space');
    expect(await outcomeOf(files.create(capability, beneath('g'), large))).toBe('no_space');
    expect((await workspace.tree()).map((line) => line.slice(0, 8))).toEqual([
      'empty/',
      'f: old',
      'filler: ',
    ]);
    expect(await outcomeOf(changes.replace(workspace))).toBe('ok');
  });

  it('a read-only file system refuses every change and still reads', async () => {
    const workspace = await onTmpfs('1m');
    await remountReadOnly(workspace.root);
    for (const change of Object.values(changes)) {
      expect(await outcomeOf(change(workspace))).toBe('file_system_read_only');
    }
    expect(await outcomeOf(workspace.files.read(workspace.capability, beneath('f')))).toBe('ok');
    expect(await outcomeOf(workspace.files.recover(workspace.capability))).toBe('ok');
  });
});

describe.skipIf(!mayMount)('mounts below the root', () => {
  async function withMount(allowMounts: boolean): Promise<Workspace> {
    const workspace = await openWorkspace({ tree: ['f: old', 'm/'], outside: ['f: old'], allowMounts });
    await mountBind(workspace.outside, join(workspace.root, 'm'));
    return workspace;
  }

  it('R10: are outside, for reads, listings and changes', async () => {
    const { files, capability, outside } = await withMount(false);
    expect(await outcomeOf(files.read(capability, beneath('m/f')))).toBe('path_outside_workspace');
    expect(await outcomeOf(files.list(capability, beneath('m')))).toBe('path_outside_workspace');
    expect(await outcomeOf(files.replace(capability, beneath('m/f'), text('x'), base))).toBe(
      'path_outside_workspace',
    );
    expect(await outcomeOf(files.create(capability, beneath('m/g'), text('x')))).toBe(
      'path_outside_workspace',
    );
    expect(await outcomeOf(files.rename(capability, beneath('f'), beneath('m/g')))).toBe(
      'path_outside_workspace',
    );
    expect(await readFile(join(outside, 'f'), 'utf8')).toBe('old');
  });

  it('are inside where the workspace allows them, but nothing is renamed across', async () => {
    const { files, capability, outside, tree } = await withMount(true);
    expect(await outcomeOf(files.read(capability, beneath('m/f')))).toBe('ok');
    expect(await outcomeOf(files.replace(capability, beneath('m/f'), text('new'), base))).toBe('ok');
    expect(await readFile(join(outside, 'f'), 'utf8')).toBe('new');
    expect(await outcomeOf(files.rename(capability, beneath('f'), beneath('m/g')))).toBe('not_offered');
    expect(await tree()).toEqual(['f: old', 'm/', 'm/f: new']);
  });
});

describe('a writer that has the file open', () => {
  it('write-open-writer: the change is refused while it does, and goes through after', async () => {
    const workspace = await openWorkspace({ tree: ['f: old', 'empty/'] });
    const writer = await open(join(workspace.root, 'f'), 'a');
    try {
      expect(await outcomeOf(changes.replace(workspace))).toBe('file_busy');
      expect(await outcomeOf(changes.remove(workspace))).toBe('file_busy');
      await writer.write('er');
    } finally {
      await writer.close();
    }
    expect(await workspace.tree()).toEqual(['empty/', 'f: older']);
    expect(await outcomeOf(changes.replace(workspace))).toBe('conflict');
    expect(workspace.held.openWriterCheck).toBe('unknown');
    await writeFile(join(workspace.root, 'f'), 'old');
    expect(await outcomeOf(changes.replace(workspace))).toBe('ok');
    expect(workspace.held.openWriterCheck).toBe('supported');
  });
});

describe('descriptors', () => {
  it('invariant 7: none is left by any operation, refused or not', async () => {
    const before = testBinding.openHandles();
    const workspace = await openWorkspace({
      tree: ['f: old', 'empty/', 'l -> $OUT/x', 'p |', 'real.git/HEAD: x'],
    });
    const { files, capability, root } = workspace;
    await mkdir(join(root, 'real.git/objects'));
    const paths = ['f', 'l', 'p', 'empty', 'nothing', 'real.git/HEAD', '.git'].map(beneath);
    const everything = async () => {
      for (const path of paths) {
        await outcomeOf(files.read(capability, path));
        await outcomeOf(files.list(capability, path));
        await outcomeOf(files.replace(capability, path, text('x'), {}));
        await outcomeOf(files.open(capability, path).then((file) => file[Symbol.dispose]()));
      }
      await outcomeOf(files.recover(capability));
    };
    for (let round = 0; round < 30; round += 1) await everything();
    // The root, the guard's watch and the directories that it remembers; not one more for each operation.
    expect(testBinding.openHandles() - before).toBeLessThan(16);
    await capability[Symbol.asyncDispose]();
    await expect.poll(() => testBinding.openHandles()).toBe(before);
  });
});
