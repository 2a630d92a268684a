import { cpSync, existsSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { childrenOf, createMachine, ended, type Machine, projectRoot, until, waitersFor } from './machine.ts';

const everyStep = ['npm ci --ignore-scripts (workspace-authority)', 'cmake-js build', 'tsc'];

let machine: Machine;
let checkout: string;
let script: string;

beforeEach(async () => {
  machine = await createMachine(['c++', 'cmake', 'ninja']);
  checkout = join(machine.directory, 'checkout');
  script = join(checkout, 'scripts/setup.mjs');
  for (const path of ['scripts', 'vendor', 'package.json', 'package-lock.json']) {
    cpSync(join(projectRoot, path), join(checkout, path), { recursive: true });
  }
  for (const path of ['native/module.cc', 'src/index.ts', 'CMakeLists.txt']) {
    await mkdir(join(checkout, path, '..'), { recursive: true });
    await writeFile(join(checkout, path), 'first');
  }
});

afterEach(() => machine[Symbol.dispose]());

const setUp = (...args: string[]) => machine.run(script, ['--without-nodegit', ...args]);

describe('set-up of a checkout', () => {
  it('does every step once, in order, and nothing the second time', async () => {
    expect(await setUp()).toMatchObject({ code: 0, stdout: '' });
    expect(machine.calls()).toEqual(everyStep);
    expect(await setUp()).toEqual({ code: 0, stdout: '', stderr: '' });
    expect(machine.calls()).toEqual(everyStep);
  });

  it('builds the test variant of the addon beside the other one, and only when asked', async () => {
    await setUp('--test-addon');
    expect(machine.calls()).toContain('cmake-js build-test --CDWITH_FAULTS=ON');
    expect(machine.calls()).toContain('cmake-js build');
  });

  const changes: { what: string; change: () => void; repeated: string[] }[] = [
    {
      what: 'a source of the addon',
      change: () => writeFileSync(join(checkout, 'native/module.cc'), 'second'),
      repeated: ['cmake-js build'],
    },
    {
      what: 'the built addon',
      change: () => writeFileSync(join(checkout, 'build/Release/workspace_authority.node'), 'torn'),
      repeated: ['cmake-js build'],
    },
    {
      what: 'a source of the library',
      change: () => writeFileSync(join(checkout, 'src/index.ts'), 'second'),
      repeated: ['tsc'],
    },
    {
      what: 'a compiled file',
      change: () => rmSync(join(checkout, 'dist/index.js')),
      repeated: ['tsc'],
    },
    {
      what: 'what npm installed, by a hand-run npm',
      change: () => writeFileSync(join(checkout, 'node_modules/.package-lock.json'), '{ "packages": {} }'),
      repeated: ['npm ci --ignore-scripts (workspace-authority)'],
    },
  ];
  it.each(changes)('repeats only what depends on a change of $what', async ({ change, repeated }) => {
    await setUp();
    change();
    expect((await setUp()).code).toBe(0);
    expect(machine.calls().slice(everyStep.length)).toEqual(repeated);
  });

  it('keeps no compiled file of a source that is gone', async () => {
    await setUp();
    writeFileSync(join(checkout, 'dist/gone.js'), '');
    await setUp();
    await expect(readFile(join(checkout, 'dist/gone.js'))).rejects.toThrow('ENOENT');
  });

  it('lets a second one wait for the first, and does no step twice', async () => {
    const gate = machine.gate();
    const first = ended(machine.start(script, ['--without-nodegit'], gate.environment));
    await until(() => machine.calls().length === 1, 'the first is inside npm');
    const second = ended(machine.start(script, ['--without-nodegit'], gate.environment));
    const lock = join(checkout, '.setup/lock');
    const { ino } = statSync(lock, { bigint: true });
    await until(() => waitersFor(lock, ino) === 1, 'the second waits for the lock');
    await gate.open();
    expect((await Promise.all([first, second])).map(({ code }) => code)).toEqual([0, 0]);
    expect(machine.calls()).toEqual(everyStep);
  });

  it('does not keep the lock when it is killed', async () => {
    const gate = machine.gate();
    const first = machine.start(script, ['--without-nodegit'], gate.environment);
    await until(() => machine.calls().length === 1, 'it is inside npm');
    const [flock] = await childrenOf(first.pid);
    const [inner] = await childrenOf(flock);
    const [npm] = await childrenOf(inner);
    for (const pid of [first.pid, flock, inner]) if (pid !== undefined) process.kill(pid, 'SIGKILL');
    expect((await setUp()).code).toBe(0);
    await gate.open();
    await until(() => !existsSync(`/proc/${npm}`), 'the orphaned npm ends');
  });

  it('names the exact command for a system package that is missing, and stops', async () => {
    rmSync(join(machine.directory, 'bin/cmake'));
    const { code, stderr } = await setUp();
    expect(code).toBe(1);
    expect(stderr).toContain('apt-get install -y --no-install-recommends cmake\n');
    expect(machine.calls()).toEqual([everyStep[0]]);
  });

  it('shows what a failing tool said, and repeats the step the next time', async () => {
    const { code, stderr } = await machine.run(script, ['--without-nodegit'], { FAKE_FAILURE: 'no network' });
    expect(code).toBe(1);
    expect(stderr).toContain('no network');
    expect((await setUp()).code).toBe(0);
  });
});
