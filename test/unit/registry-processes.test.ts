import { execFile, fork } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { openFileRegistry } from '../../src/registry/file-registry.ts';
import { bundleProgram } from '../support/bundle.ts';
import { keptDirectory, openState, refusalOf, temporaryDirectory } from '../support/state.ts';
import { addonEnvironment } from '../support/test-binding.ts';

const run = promisify(execFile);
const nobody = 65534;

let program: string;
beforeAll(async () => {
  const directory = await keptDirectory();
  await chmod(directory, 0o755);
  program = await bundleProgram('registry-program.ts', directory);
});

describe('the registry among processes', () => {
  it('R04: adds from 8 processes at once lose nothing', async () => {
    const path = join(await temporaryDirectory(), 'state');
    const adding = Array.from({ length: 8 }, (_, index) =>
      run(process.execPath, [program, path, 'add', `/srv/${index}`, '16'], { env: addonEnvironment }),
    );
    for (const { stdout } of await Promise.all(adding)) expect(JSON.parse(stdout)).toBe(16);
    const { state, gate } = await openState(path);
    const rows = await (await openFileRegistry(state, gate)).list();
    expect(rows).toHaveLength(8 * 16);
    expect(new Set(rows.map((row) => row.id)).size).toBe(8 * 16);
    expect((await readdir(path)).sort()).toEqual(['locks', 'registry.json', 'registry.json.initialised']);
  });

  it('R04: a writer that is killed leaves the registry whole, with every row it had reported', async () => {
    const path = join(await temporaryDirectory(), 'state');
    const { state, gate } = await openState(path);
    const registry = await openFileRegistry(state, gate);
    for (let round = 0; round < 5; round += 1) {
      const writer = fork(program, [path, 'add', `/srv/${round}`, '1000'], {
        execArgv: [],
        silent: true,
        env: addonEnvironment,
      });
      const reported: string[] = [];
      writer.on('message', (row: string) => reported.push(row));
      while (reported.length < 3 + round) await once(writer, 'message');
      writer.kill('SIGKILL');
      await once(writer, 'exit');
      const paths = new Set((await registry.list()).map((row) => row.path));
      for (const row of reported) expect(paths.has(row), row).toBe(true);
    }
  });

  it('R04: a registry that this user may not read is registry_unavailable; one that is writable by others too', async () => {
    const directory = await temporaryDirectory();
    await chmod(directory, 0o777);
    const path = join(directory, 'state');
    const asNobody = async (...words: string[]) => {
      const setpriv = ['--reuid', String(nobody), '--regid', String(nobody), '--clear-groups'];
      const { stdout } = await run('setpriv', [...setpriv, process.execPath, program, path, ...words], {
        env: addonEnvironment,
      });
      return JSON.parse(stdout);
    };
    expect(await asNobody('add', '/srv', '1')).toBe(1);
    await chmod(join(path, 'registry.json'), 0o000);
    expect(await asNobody('list')).toEqual({
      code: 'registry_unavailable',
      details: { file: 'registry.json', reason: 'permission denied' },
    });
    await chmod(join(path, 'registry.json'), 0o600);
    expect(await asNobody('list')).toEqual(['/srv/0']);
    await chmod(path, 0o500);
    expect(await asNobody('add', '/other', '1')).toEqual({
      code: 'state_unavailable',
      details: { file: 'registry.json', reason: 'permission denied' },
    });
    await chown(path, 0, 0);
    expect(await asNobody('list')).toMatchObject({ code: 'state_unavailable' });
  });

  it('a registry whose lease another process holds is refused in time, and readable all the while', async () => {
    const path = join(await temporaryDirectory(), 'state');
    const one = await openState(path);
    const two = await openState(path);
    const registry = await openFileRegistry(two.state, two.gate);
    let free: () => void = () => undefined;
    const holding = one.gate.run([`file:${one.state.path}/registry.json`], async () => {
      await new Promise<void>((resolve) => {
        free = resolve;
      });
    });
    const identity = { inode: '1', fileSystemId: '1', handle: '1:00', birthTimeNs: null };
    const row = { path: '/srv', title: null, identity, gitDirIdentity: null, allowMounts: false };
    expect((await refusalOf(() => registry.add(row, AbortSignal.timeout(50)))).code).toBe('aborted');
    expect(await registry.list()).toEqual([]);
    free();
    await holding;
    expect(await registry.add(row)).toMatchObject({ path: '/srv' });
  });
});
