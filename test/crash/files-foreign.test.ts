import { closeSync, constants, openSync, renameSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isKeptName } from '../../src/capability/transaction-name.ts';
import { ChangeProcesses } from '../support/change-process.ts';
import { openWorkspace, type Workspace } from '../support/files-workspace.ts';
import { type ChangeCase, changeCases, foreignText, newText, oldText } from './change-cases.ts';

const long = process.env['WORKSPACE_AUTHORITY_LONG'] === '1';
/** The short mode kills at each third call only, beginning at another one for each moment. */
const stride = long ? 1 : 3;
/** More than any change makes after the moment at which another program acted. */
const mostCalls = 120;

/** What another program does to the file while the change stands still. False: it could not. */
type ForeignAct = (root: string) => boolean;

const foreignActs: Readonly<Record<string, ForeignAct>> = {
  'renames a new version over the name': (root) => {
    writeFileSync(join(root, 'next'), foreignText);
    renameSync(join(root, 'next'), join(root, 'f'));
    return true;
  },
  'writes the file in place': (root) => {
    let fd: number;
    try {
      fd = openSync(join(root, 'f'), constants.O_WRONLY | constants.O_TRUNC | constants.O_NONBLOCK);
    } catch {
      return false;
    }
    writeSync(fd, foreignText);
    closeSync(fd);
    return true;
  },
  'removes the name': (root) => {
    rmSync(join(root, 'f'), { force: true });
    return false;
  },
};

/** Moments at which another program acts: in the short mode those around each change of a name, in the long mode all. */
function momentsOf(trace: readonly string[]): readonly number[] {
  const all = trace.map((_, index) => index + 1);
  if (long) return all;
  const changesName = (index: number) => /^(renameat2|linkat|unlinkat)$/.test(trace[index - 1] ?? '');
  return all.filter((occurrence) => changesName(occurrence) || changesName(occurrence - 1));
}

async function plant({ before }: ChangeCase): Promise<Workspace> {
  const workspace = await openWorkspace();
  if (before !== null) writeFileSync(join(workspace.root, 'f'), before);
  return workspace;
}

const rows = changeCases.flatMap((row) =>
  Object.keys(foreignActs).map((act) => [row.operation, act, row] as const),
);

describe('R14, R15: another program acts while a change runs, which is killed at any later call, then recovered', () => {
  it.each(rows)(
    '%s, another program %s: its content is somewhere, and nothing is half',
    async (_, act, row) => {
      await using processes = new ChangeProcesses();
      const trace = await traceOf(row, processes);
      let killed = 0;
      for (const moment of momentsOf(trace)) {
        for (let later = 1 + (moment % stride); later <= mostCalls; later += stride) {
          const at = `before call ${moment} (${trace[moment - 1]}), killed before the ${later}th call after`;
          const workspace = await plant(row);
          await using changing = await processes.take();
          const kill = { syscall: '*', occurrence: later, when: 'before', action: 'kill' } as const;
          const fault = {
            syscall: '*',
            occurrence: moment,
            when: 'before',
            action: 'stop',
            next: kill,
          } as const;
          const running = changing.run({ ...row.change, root: workspace.root, fault });
          expect(await changing.untilStopped(running), at).toBe(true);
          const wrote = foreignActs[act]?.(workspace.root) ?? false;
          changing.resume();
          const answer = await running;
          await settle(workspace, at);
          const contents = await contentsOf(workspace);
          if (wrote) expect(contents, at).toContain(foreignText);
          for (const content of contents) expect([oldText, newText, foreignText], at).toContain(content);
          if (answer !== null) break;
          killed += 1;
          expect(later + stride, at).toBeLessThan(mostCalls);
        }
      }
      // The test bites: most moments were followed by a death in the middle.
      expect(killed).toBeGreaterThan(momentsOf(trace).length);
    },
  );
});

async function traceOf(row: ChangeCase, processes: ChangeProcesses): Promise<readonly string[]> {
  const workspace = await plant(row);
  await using observed = await processes.take();
  const answer = await observed.run({ ...row.change, root: workspace.root, fault: null });
  return answer?.trace ?? [];
}

/** Recovers twice: nothing but `f` and recovery files is left, and there is nothing to do the second time. */
async function settle(workspace: Workspace, at: string): Promise<void> {
  const report = await workspace.files.recover(workspace.capability);
  expect(report.complete, at).toBe(true);
  const names = (await workspace.tree()).map((line) => line.slice(0, line.indexOf(': ')));
  expect(
    names.filter((name) => name !== 'f' && !isKeptName(name)),
    at,
  ).toEqual([]);
  expect((await workspace.files.recover(workspace.capability)).actions, at).toEqual([]);
}

/** Of `f` and of all recovery files. */
async function contentsOf(workspace: Workspace): Promise<readonly string[]> {
  return (await workspace.tree()).map((line) => line.slice(line.indexOf(': ') + 2));
}
