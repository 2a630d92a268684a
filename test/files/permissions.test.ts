import { execFile } from 'node:child_process';
import { chmod, chown, cp, mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openWorkspace, type Workspace } from '../support/files-workspace.ts';
import { testAddonPath } from '../support/test-binding.ts';

const run = promisify(execFile);
const nobody = 65_534;
const program = join(import.meta.dirname, '../support/unprivileged-child.mjs');
const asNobody = ['setpriv', `--reuid=${nobody}`, `--regid=${nobody}`, '--clear-groups'];

type Step = readonly [operation: string, path?: string];

/** Outcomes of the steps, run by a process that `command` starts. */
async function outcomesOf(
  command: readonly string[],
  { root }: Workspace,
  steps: readonly Step[],
): Promise<readonly string[]> {
  const [file, ...words] = [
    ...command,
    process.execPath,
    program,
    await readableAddon(),
    root,
    JSON.stringify(steps),
  ];
  const { stdout } = await run(file as string, words);
  return JSON.parse(stdout);
}

/** The addon may lie where only this user can read. */
async function readableAddon(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'wa-addon-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  await chmod(directory, 0o755);
  const copy = join(directory, 'addon.node');
  await cp(testAddonPath, copy);
  await chmod(copy, 0o755);
  return copy;
}

/** A root that anybody can enter and change, unless the test says otherwise. */
async function openPublic(tree: readonly string[]): Promise<Workspace> {
  const workspace = await openWorkspace({ tree });
  await chmod(join(workspace.root, '..'), 0o755);
  await chmod(workspace.root, 0o777);
  return workspace;
}

describe.skipIf(process.getuid?.() !== 0)('files of other users', () => {
  it('what the system does not let this server read is refused, and leaves nothing behind', async () => {
    const workspace = await openPublic(['secret: x', 'closed/f: x', 'open/f: x']);
    await chmod(join(workspace.root, 'secret'), 0o600);
    await chmod(join(workspace.root, 'closed'), 0o700);
    const steps: readonly Step[] = [
      ['read', 'secret'],
      ['read', 'closed/f'],
      ['list', 'closed'],
      ['replace', 'secret'],
      ['create', 'closed/new'],
      ['read', 'open/f'],
      ['create', 'open/new'],
      ['makeDirectory', 'open/new'],
      ['rename', 'open/f'],
      ['removeDirectory', 'open'],
    ];
    const before = await workspace.tree();
    const denied = 'permission_denied';
    expect(await outcomesOf(asNobody, workspace, steps)).toEqual([
      ...[denied, denied, denied, denied, denied, 'ok', denied, denied, denied],
      'directory_not_empty',
    ]);
    expect(await workspace.tree()).toEqual(before);
  });

  it('invariant 5: a directory that cannot be read is not known to be clean', async () => {
    const workspace = await openPublic(['closed/f: x', 'open/f: x']);
    expect(await outcomesOf(asNobody, workspace, [['recover']])).toEqual(['complete true']);
    await chmod(join(workspace.root, 'closed'), 0o700);
    expect(await outcomesOf(asNobody, workspace, [['recover']])).toEqual(['complete false']);
  });

  it('R16: a place that may be changed is changed, though the root itself may not', async () => {
    const workspace = await openPublic(['open/f: old']);
    await chmod(workspace.root, 0o755);
    await chmod(join(workspace.root, 'open'), 0o777);
    await chown(join(workspace.root, 'open/f'), nobody, nobody);
    const steps: readonly Step[] = [
      ['replace', 'open/f'],
      ['create', 'open/new'],
      ['create', 'new'],
    ];
    expect(await outcomesOf(asNobody, workspace, steps)).toEqual(['ok', 'ok', 'permission_denied']);
    expect(await workspace.tree()).toEqual(['open/', 'open/f: new', 'open/new: new']);
  });

  it('W11: a file whose owner cannot be kept is refused and stays as it is', async () => {
    const workspace = await openPublic(['f: old']);
    await chmod(join(workspace.root, 'f'), 0o666);
    expect(await outcomesOf(asNobody, workspace, [['replace', 'f']])).toEqual(['metadata_not_preservable']);
    expect(await workspace.tree()).toEqual(['f: old']);
    expect((await stat(join(workspace.root, 'f'))).uid).toBe(0);
  });

  it('W11: a read-only file is one, though a rename would not ask', async () => {
    const workspace = await openPublic(['f: old']);
    await chown(join(workspace.root, 'f'), nobody, nobody);
    await chmod(join(workspace.root, 'f'), 0o444);
    expect(await outcomesOf(asNobody, workspace, [['replace', 'f']])).toEqual(['permission_denied']);
    expect(await readFile(join(workspace.root, 'f'), 'utf8')).toBe('old');
  });
});

describe('a process without free descriptors', () => {
  it('is told so, and works again when some are free', async () => {
    const workspace = await openPublic(['f: old']);
    const limited = ['prlimit', '--nofile=64:64'];
    const steps: readonly Step[] = [
      ['exhaust', 'f'],
      ['read', 'f'],
      ['replace', 'f'],
    ];
    expect(await outcomesOf(limited, workspace, steps)).toEqual(['too_many_open_files', 'ok', 'ok']);
  });
});
