import {
  chmodSync,
  chownSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createMachine, ended, type Machine, projectRoot, until, waitersFor } from './machine.ts';

const script = join(projectRoot, 'scripts/nodegit.mjs');
const compilers = ['c++', 'make', 'python3', 'krb5-config'];
const oneBuild = ['npm ci --ignore-scripts (workspace-authority-nodegit)', 'node-gyp rebuild'];

interface Entry {
  readonly root: string;
  readonly directory: string;
  readonly nodegit: string;
  readonly binary: string;
  readonly meta: string;
  readonly lock: string;
}

let machine: Machine;
let entry: Entry;

beforeEach(async () => {
  machine = await createMachine(compilers);
  const printed = await machine.run(join(projectRoot, 'test/package/programs/print-entry.mjs'), [
    projectRoot,
  ]);
  entry = JSON.parse(printed.stdout) as Entry;
});

afterEach(() => machine[Symbol.dispose]());

const ensure = (environment?: Record<string, string>) => machine.run(script, ['ensure'], environment);

async function state(): Promise<{ state: string; reason?: string; pid?: number; path?: string }> {
  return JSON.parse((await machine.run(script, ['status'])).stdout);
}

/** Has the recording tools build an entry, and forgets that they ran. */
async function built(): Promise<void> {
  expect((await ensure()).code).toBe(0);
  expect(await state()).toEqual({ state: 'ready', path: entry.nodegit });
  rmSync(join(machine.directory, 'calls.log'));
}

describe('the cache of built nodegits', () => {
  it('is filled by one build, private to the user, and used from then on', async () => {
    expect(await state()).toEqual({ state: 'absent' });
    await built();
    expect((await ensure()).code).toBe(0);
    expect(machine.calls()).toEqual([]);
    expect(statSync(entry.root).mode & 0o777).toBe(0o700);
    expect(statSync(entry.binary).mode & 0o077).toBe(0);
    expect(readdirSync(entry.root).filter((name) => name.includes('.build-'))).toEqual([]);
  });

  const damages: { what: string; damage: () => void }[] = [
    { what: 'another binary', damage: () => writeFileSync(entry.binary, 'other') },
    { what: 'a file that was not built', damage: () => writeFileSync(join(entry.nodegit, 'lib/new.js'), '') },
    { what: 'a changed script', damage: () => writeFileSync(join(entry.nodegit, 'lib/nodegit.js'), '//') },
    { what: 'no binary', damage: () => rmSync(entry.binary) },
    { what: 'a symbolic link', damage: () => symlinkSync('/etc', join(entry.nodegit, 'lib/link')) },
    { what: 'a truncated description', damage: () => writeFileSync(entry.meta, '{"key":') },
    { what: 'no description', damage: () => rmSync(entry.meta) },
    {
      what: 'the description of another entry',
      damage: () =>
        writeFileSync(entry.meta, readFileSync(entry.meta, 'utf8').replace(/"key": "./, '"key": "-')),
    },
  ];
  it.each(damages)('is not used with $what: the entry is dropped and built anew', async ({ damage }) => {
    await built();
    damage();
    expect((await state()).state).toBe('failed');
    const { code, stderr } = await ensure();
    expect(code).toBe(0);
    expect(stderr).toContain('dropping the cached build');
    expect(machine.calls()).toEqual(oneBuild);
    expect((await state()).state).toBe('ready');
  });

  const exposures: { what: string; path: () => string; mode: number }[] = [
    { what: 'description is group-writable', path: () => entry.meta, mode: 0o660 },
    { what: 'binary is group-writable', path: () => entry.binary, mode: 0o620 },
    { what: 'directory is writable by others', path: () => entry.directory, mode: 0o702 },
    { what: 'library is writable by others', path: () => join(entry.nodegit, 'lib'), mode: 0o702 },
    { what: 'root is group-writable', path: () => entry.root, mode: 0o720 },
    { what: 'parent is writable by everybody', path: () => machine.cache, mode: 0o777 },
  ];
  it.each(exposures)('is refused, and left as it is, when its $what', async ({ path, mode }) => {
    await built();
    chmodSync(path(), mode);
    expect((await state()).reason).toContain(path());
    const { code, stdout } = await ensure();
    expect(code).toBe(1);
    expect(JSON.parse(stdout).reason).toContain(path());
    expect(machine.calls()).toEqual([]);
    expect(existsSync(entry.binary)).toBe(true);
  });

  it.runIf(process.getuid?.() === 0)('is refused when its binary belongs to another user', async () => {
    await built();
    chownSync(entry.binary, 65534, 65534);
    expect((await state()).reason).toContain('belongs to user 65534');
    expect((await ensure()).code).toBe(1);
  });
});

describe('the build of nodegit', () => {
  it('happens once when two ask at the same time', async () => {
    const gate = machine.gate();
    const first = ended(machine.start(script, ['ensure'], gate.environment));
    await until(() => machine.calls().length === 1, 'the first builds');
    expect((await state()).state).toBe('building');
    const second = ended(machine.start(script, ['ensure'], gate.environment));
    const { ino } = statSync(entry.lock, { bigint: true });
    await until(() => waitersFor(entry.lock, ino) === 1, 'the second waits');
    await gate.open();
    expect((await Promise.all([first, second])).map(({ code }) => code)).toEqual([0, 0]);
    expect(machine.calls()).toEqual(oneBuild);
  });

  it('is not tried again by those who waited for one that failed', async () => {
    const gate = machine.gate();
    const failing = { ...gate.environment, FAKE_FAILURE: 'no network' };
    const first = ended(machine.start(script, ['ensure'], failing));
    await until(() => machine.calls().length === 1, 'the first builds');
    const second = ended(machine.start(script, ['ensure'], failing));
    const { ino } = statSync(entry.lock, { bigint: true });
    await until(() => waitersFor(entry.lock, ino) === 1, 'the second waits');
    await gate.open();
    expect((await Promise.all([first, second])).map(({ code }) => code)).toEqual([1, 1]);
    expect(machine.calls()).toHaveLength(1);
    // Whoever asks later tries again.
    expect((await ensure()).code).toBe(0);
  });

  it('is reported as failed after its process was killed, and can be repeated beside what it left', async () => {
    const gate = machine.gate();
    const first = ended(machine.start(script, ['ensure'], gate.environment));
    await until(() => machine.calls().length === 1, 'it is inside npm');
    const { pid } = await state();
    expect(pid).toBeGreaterThan(1);
    process.kill(pid as number, 'SIGKILL');
    await until(async () => (await state()).state !== 'building', 'its end is noticed');
    expect((await state()).reason).toContain(`process ${pid}`);
    // The orphaned npm still runs while this one builds.
    expect((await ensure()).code).toBe(0);
    expect((await state()).state).toBe('ready');
    await gate.open();
    await first;
  });

  it('goes on in the background after the set-up that started it has ended', async () => {
    const gate = machine.gate();
    const started = await machine.run(
      join(projectRoot, 'test/package/programs/start-build.mjs'),
      [projectRoot],
      gate.environment,
    );
    expect(JSON.parse(started.stdout).state).toBe('building');
    await until(() => machine.calls().length === 1, 'it is inside npm');
    // A second start finds the builder and adds none.
    await machine.run(
      join(projectRoot, 'test/package/programs/start-build.mjs'),
      [projectRoot],
      gate.environment,
    );
    const { ino } = statSync(entry.lock, { bigint: true });
    expect(waitersFor(entry.lock, ino)).toBe(0);
    await gate.open();
    await until(async () => (await state()).state === 'ready', 'it is built');
    expect(machine.calls()).toEqual(oneBuild);
  });

  it.each([
    ['krb5-config', 'libkrb5-dev'],
    ['python3', 'python3'],
    ['make', 'make'],
  ])('without %s ends at once and names the exact command', async (program, debianPackage) => {
    rmSync(join(machine.directory, 'bin', program));
    const command = `apt-get install -y --no-install-recommends ${debianPackage}`;
    const { code, stdout } = await ensure();
    expect(code).toBe(1);
    expect(JSON.parse(stdout).reason).toContain(command);
    expect((await state()).reason).toContain(command);
    expect(machine.calls()).toEqual([]);
  });
});
