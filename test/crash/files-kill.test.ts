import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ChangeProcesses } from '../support/change-process.ts';
import { openWorkspace, type Workspace } from '../support/files-workspace.ts';
import { type ChangeCase, changeCases } from './change-cases.ts';

const long = process.env['WORKSPACE_AUTHORITY_LONG'] === '1';

async function plant({ before }: ChangeCase): Promise<Workspace> {
  const workspace = await openWorkspace();
  if (before !== null) await writeFile(join(workspace.root, 'f'), before);
  return workspace;
}

function treeOf(content: string | null): readonly string[] {
  return content === null ? [] : [`f: ${content}`];
}

describe('R14, R15: a change killed at any system call, then recovered by another process', () => {
  it.each(changeCases.map((row) => [row.operation, row] as const))(
    '%s: old or new content whole, and nothing else left',
    async (_, row) => {
      await using processes = new ChangeProcesses();
      const undisturbed = await plant(row);
      await using observed = await processes.take();
      const answer = await observed.run({ ...row.change, root: undisturbed.root, fault: null });
      expect(answer?.code).toBe('ok');
      expect(await undisturbed.tree()).toEqual(treeOf(row.after));
      const trace = answer?.trace ?? [];
      expect(trace.length).toBeGreaterThan(10);

      let killed = 0;
      let unfinished = 0;
      for (const [index, syscall] of trace.entries()) {
        const last = index === trace.length - 1;
        // After a call is before the next one, but for what the process has in mind; so only the long mode tries all.
        for (const when of long || last ? (['before', 'after'] as const) : (['before'] as const)) {
          const at = `${when} call ${index + 1} of ${trace.length}, ${syscall}`;
          const workspace = await plant(row);
          await using changing = await processes.take();
          const fault = { syscall: '*', occurrence: index + 1, when, action: 'kill' } as const;
          const died = await changing.run({ ...row.change, root: workspace.root, fault });
          // A call that fails as it should has no moment after it.
          if (died !== null) expect(when, at).toBe('after');
          else killed += 1;
          if ((await workspace.tree()).some((line) => line.startsWith('.wa-'))) unfinished += 1;

          const report = await workspace.files.recover(workspace.capability);
          expect(report.complete, at).toBe(true);
          expect([treeOf(row.before), treeOf(row.after)], at).toContainEqual(await workspace.tree());
          expect((await workspace.files.recover(workspace.capability)).actions, at).toEqual([]);
        }
      }
      // The test bites: it killed at every call, and some of them left something to settle.
      expect(killed).toBeGreaterThanOrEqual(trace.length);
      // A new file has no name until it is complete.
      if (row.operation !== 'create') expect(unfinished).toBeGreaterThan(0);
      else expect(unfinished).toBe(0);
    },
  );
});
