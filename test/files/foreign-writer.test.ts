import { renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { versionOf } from '../../src/files/content-version.ts';
import { ChangeProcess } from '../support/change-process.ts';
import { openWorkspace, text } from '../support/files-workspace.ts';

const long = process.env['WORKSPACE_AUTHORITY_LONG'] === '1';
const base = versionOf(text('old'));
const foreign = versionOf(text('foreign'));

function renameOver(root: string): void {
  writeFileSync(join(root, 'next'), 'foreign');
  renameSync(join(root, 'next'), join(root, 'f'));
}

interface Row {
  readonly what: string;
  readonly act: (root: string) => void;
  readonly operation: 'replace' | 'remove';
  readonly base: { readonly sha1: string } | { readonly etag: string };
  /** Allowed pairs of an outcome and what stands there at the end. */
  readonly ends: readonly (readonly [code: string, tree: string])[];
}

const renamed = { what: 'renames its version over the file', act: renameOver };
const removed = { what: 'removes the file', act: (root: string) => rmSync(join(root, 'f'), { force: true }) };
const linked = {
  what: 'puts a link in place of the file',
  act: (root: string) => {
    rmSync(join(root, 'f'), { force: true });
    symlinkSync('../outside', join(root, 'f'));
  },
};

const rows: readonly Row[] = [
  {
    ...renamed,
    operation: 'replace',
    base: { sha1: base.sha1 },
    ends: [
      ['conflict', 'f: foreign'],
      ['ok', 'f: foreign'],
    ],
  },
  {
    ...renamed,
    operation: 'replace',
    base: { etag: base.etag },
    ends: [
      ['precondition_failed', 'f: foreign'],
      ['ok', 'f: foreign'],
    ],
  },
  {
    ...renamed,
    operation: 'remove',
    base: { sha1: base.sha1 },
    ends: [
      ['conflict', 'f: foreign'],
      ['ok', 'f: foreign'],
    ],
  },
  {
    ...removed,
    operation: 'replace',
    base: { sha1: base.sha1 },
    ends: [
      ['conflict', ''],
      ['not_found', ''],
      ['ok', ''],
    ],
  },
  {
    ...removed,
    operation: 'remove',
    base: { sha1: base.sha1 },
    ends: [
      ['conflict', ''],
      ['not_found', ''],
      ['ok', ''],
    ],
  },
  {
    ...linked,
    operation: 'replace',
    base: { sha1: base.sha1 },
    ends: [
      ['conflict', 'f -> ../outside'],
      ['path_outside_workspace', 'f -> ../outside'],
      ['ok', 'f -> ../outside'],
    ],
  },
];

describe('write-race-in-window, R14: another program acts between two system calls of a change', () => {
  it.each(rows.map((row) => [row.operation, row.what, row] as const))(
    '%s, while it %s: the newest foreign state stands, the caller is told, nothing is left',
    async (_, __, row) => {
      await using process = await ChangeProcess.start();
      const change = { operation: row.operation, path: 'f', content: 'new', base: row.base };
      const plain = await openWorkspace({ tree: ['f: old'] });
      const trace = (await process.run({ ...change, root: plain.root, fault: null }))?.trace ?? [];
      expect(trace.length).toBeGreaterThan(10);
      const seen = new Set<string>();
      for (let occurrence = 1; occurrence <= trace.length; occurrence += long ? 1 : 2) {
        const at = `before call ${occurrence}, ${trace[occurrence - 1]}`;
        const workspace = await openWorkspace({ tree: ['f: old'] });
        const fault = { syscall: '*', occurrence, when: 'before', action: 'stop' } as const;
        const running = process.run({ ...change, root: workspace.root, fault });
        expect(await process.untilStopped(running), at).toBe(true);
        row.act(workspace.root);
        process.resume();
        const answer = await running;
        seen.add(answer?.code ?? 'died');
        const kept = answer?.kept ?? [];
        const tree = (await workspace.tree()).filter(
          (line) => !kept.some((name) => line.startsWith(`${name}: `)),
        );
        expect(row.ends, at).toContainEqual([answer?.code, tree.join()]);
        // Only where the name was deleted is anything set aside: what the other program deleted is not brought back by itself.
        if (row.act !== removed.act) expect(kept, at).toEqual([]);
      }
      // The test bites: some moments are before and some after the commit point.
      expect(seen.size).toBeGreaterThan(1);
    },
  );

  it('R13: the refusal tells the foreign version', async () => {
    await using process = await ChangeProcess.start();
    const workspace = await openWorkspace({ tree: ['f: old'] });
    const fault = { syscall: 'renameat2', occurrence: 1, when: 'before', action: 'stop' } as const;
    const change = { operation: 'replace', path: 'f', content: 'new', base: { sha1: base.sha1 } } as const;
    const running = process.run({ ...change, root: workspace.root, fault });
    expect(await process.untilStopped(running)).toBe(true);
    renameOver(workspace.root);
    process.resume();
    expect(await running).toMatchObject({ code: 'conflict', details: { ...foreign, kept: [] } });
  });
});
