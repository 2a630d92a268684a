import { chmod, mkdir, readFile, stat, symlink, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openStandaloneState, type StandaloneState } from '../../src/service/standalone-state.ts';
import { refusalOf, temporaryDirectory } from '../support/state.ts';
import { testBinding } from '../support/test-binding.ts';

async function openIn(stateDirectory: string): Promise<StandaloneState> {
  const state = await openStandaloneState({ stateDirectory, binding: testBinding });
  onTestFinished(() => state.close());
  return state;
}

describe('the token', () => {
  it('is made once, 256 random bits in a file of mode 0600, and stays over starts', async () => {
    const path = join(await temporaryDirectory(), 'state');
    const state = await openIn(path);
    const token = await state.token.current();
    expect(token).toMatch(/^[\w-]{43}$/);
    expect(state.tokenFile).toBe(join(path, 'token'));
    expect(await readFile(state.tokenFile, 'utf8')).toBe(`${token}\n`);
    expect((await stat(state.tokenFile)).mode & 0o7777).toBe(0o600);
    expect(await (await openIn(path)).token.current()).toBe(token);
  });

  it('rotated in one process is the only one in force in every other', async () => {
    const path = join(await temporaryDirectory(), 'state');
    const [one, two] = [await openIn(path), await openIn(path)];
    const before = await one.token.current();
    const rotated = await two.rotateToken();
    expect(rotated).not.toBe(before);
    expect(await one.token.current()).toBe(rotated);
  });

  it('16 starts at once agree on one', async () => {
    const path = join(await temporaryDirectory(), 'state');
    const states = await Promise.all(Array.from({ length: 16 }, () => openIn(path)));
    const tokens = await Promise.all(states.map((state) => state.token.current()));
    expect(new Set(tokens).size).toBe(1);
  });

  it('may be one that a person chose', async () => {
    const path = join(await temporaryDirectory(), 'state');
    await mkdir(path, { mode: 0o700 });
    const chosen = 'correct-horse-battery-staple-0123456789';
    await writeFile(join(path, 'token'), `${chosen}\n`, { mode: 0o600 });
    expect(await (await openIn(path)).token.current()).toBe(chosen);
  });

  const bad: readonly (readonly [title: string, spoil: (file: string) => Promise<unknown>])[] = [
    ['deleted', (file) => unlink(file)],
    ['empty', (file) => writeFile(file, '')],
    ['short', (file) => writeFile(file, 'secret\n')],
    ['of two lines', (file) => writeFile(file, `${'a'.repeat(40)}\n${'b'.repeat(40)}\n`)],
    ['with a space', (file) => writeFile(file, `${'a'.repeat(20)} ${'b'.repeat(20)}\n`)],
    ['readable and writable by others', (file) => chmod(file, 0o666)],
    [
      'a link',
      async (file) => {
        await writeFile(`${file}.other`, `${'a'.repeat(43)}\n`, { mode: 0o600 });
        await unlink(file);
        await symlink(`${file}.other`, file);
      },
    ],
  ];

  it.each(bad)('R04: %s is a refusal while the server runs, never "no token needed"', async (_, spoil) => {
    const path = join(await temporaryDirectory(), 'state');
    const state = await openIn(path);
    await spoil(state.tokenFile);
    const refusal = await refusalOf(() => state.token.current());
    expect(refusal).toMatchObject({ code: 'state_unavailable', details: { file: 'token' } });
  });

  it('damaged stops the next start; deleted makes another', async () => {
    const path = join(await temporaryDirectory(), 'state');
    const state = await openIn(path);
    const token = await state.token.current();
    await writeFile(state.tokenFile, 'short');
    expect((await refusalOf(() => openIn(path))).code).toBe('state_unavailable');
    await unlink(state.tokenFile);
    expect(await (await openIn(path)).token.current()).not.toBe(token);
  });
});

describe('the audit', () => {
  it('is one JSON line an event', async () => {
    const path = join(await temporaryDirectory(), 'state');
    const state = await openIn(path);
    state.audit.record({ status: 403, route: 'GET /file' });
    state.audit.record({ status: 200, path: 'a\nb' });
    await state.close();
    const lines = (await readFile(join(path, 'audit.jsonl'), 'utf8')).trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      { status: 403, route: 'GET /file' },
      { status: 200, path: 'a\nb' },
    ]);
  });
});
