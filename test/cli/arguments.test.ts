import { readFileSync } from 'node:fs';
import { chmod, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { commands } from '../../src/cli/commands/index.ts';
import { runCommandLine } from '../../src/cli/run.ts';
import { version } from '../../src/index.ts';
import { temporaryDirectory } from '../support/state.ts';

async function run(...words: readonly string[]) {
  const out: string[] = [];
  const err: string[] = [];
  const code = await runCommandLine(words, {
    print: (line) => out.push(line),
    note: (line) => err.push(line),
  });
  return { code, out: out.join('\n'), err: err.join('\n') };
}

describe('words that make no sense are exit code 2, a line that says why, and nothing on standard output', () => {
  const table: readonly (readonly [words: readonly string[], why: RegExp])[] = [
    [[], /no command given/],
    [['sevre'], /no such command/],
    [['workspaces'], /no such command/],
    [['workspaces', 'rename', '/a'], /no such command/],
    [['workspaces', 'add'], /workspaces add needs: PATH/],
    [['workspaces', 'add', '/a', '/b'], /no more than/],
    [['workspaces', 'list', '/a'], /no more than/],
    [['workspaces', 'add', '/a', '--title'], /--title/],
    [['explain'], /explain needs: PATH/],
    [['doctor', '--quick'], /--quick/],
    [['recover', '--dry-run=yes'], /--dry-run/],
    [['token', 'show'], /no such command/],
    [['serve', '--port', 'http'], /--port takes a number/],
    [['serve', '--port', '65536'], /--port takes a number/],
    [['serve', '--port', '-1'], /--port/],
    [['serve', '--host', ''], /--host takes an address/],
    [['serve', '--fetch-every', '9'], /--fetch-every takes a number/],
    [['serve', '--fetch-every', '1e3'], /--fetch-every takes a number/],
    [['serve', 'extra'], /no more than/],
  ];
  it.each(table)('%j', async (words, why) => {
    const { code, out, err } = await run(...words);
    expect(code).toBe(2);
    expect(err).toMatch(why);
    expect(out).toBe('');
  });

  it.each(['0.0.0.0', '::', '192.0.2.7', 'box.example', '127.0.0.1.example.org', '::ffff:192.0.2.7'])(
    'an address that others can reach needs the names they use: %s',
    async (host) => {
      const { code, err } = await run('serve', '--host', host);
      expect(code).toBe(2);
      expect(err).toMatch(/--allowed-host/);
    },
  );
});

describe('hooks', () => {
  it('R20: are trusted of a registered main checkout only', async () => {
    const state = join(await temporaryDirectory(), 'state');
    const { code, err } = await run(
      'serve',
      '--state',
      state,
      '--port',
      '0',
      '--trust-hooks',
      '/nonexistent',
    );
    expect(code).toBe(2);
    expect(err).toMatch(/--trust-hooks \/nonexistent: no registered workspace/);
  });
});

describe('help', () => {
  it('of the whole names every command and the exit codes', async () => {
    for (const word of ['--help', '-h', 'help']) {
      const { code, out } = await run(word);
      expect(code).toBe(0);
      for (const { name, summary } of commands) {
        expect(out).toContain(name);
        expect(out).toContain(summary);
      }
      expect(out).toContain('Exit code: 0, 1 refused or failed, 2 usage.');
    }
  });

  it.each(commands)('of $name names each of its options', async ({ name, options }) => {
    const { code, out } = await run(...name.split(' '), '--help');
    expect(code).toBe(0);
    for (const option of [...Object.keys(options ?? {}), 'state', 'json'])
      expect(out).toContain(`--${option}`);
  });

  it('--version is the version of the package', async () => {
    expect(await run('--version')).toEqual({ code: 0, out: version, err: '' });
  });
});

describe('failures', () => {
  it.each([
    ['workspaces add /nowhere/at/all', 'workspace_not_registrable'],
    ['workspaces remove /nowhere', 'workspace_not_found'],
    ['workspaces confirm /nowhere', 'workspace_not_found'],
  ])('%s: exit code 1 with the code, the fact and what to do, never a stack', async (line, code) => {
    const state = join(await temporaryDirectory(), 'state');
    const words = [...line.split(' '), '--state', state];
    const forPeople = await run(...words);
    expect(forPeople).toMatchObject({ code: 1, out: '' });
    expect(forPeople.err).toContain(`(${code})`);
    expect(forPeople.err.split('\n').length).toBeGreaterThan(1);
    expect(forPeople.err).not.toMatch(/^\s+at /m);
    const forPrograms = await run(...words, '--json');
    expect(forPrograms).toMatchObject({ code: 1, err: '' });
    expect(JSON.parse(forPrograms.out)).toMatchObject({ ok: false, code, advice: expect.any(String) });
  });

  it('of a state directory that cannot be used names it', async () => {
    const state = join(await temporaryDirectory(), 'state');
    await mkdir(state);
    await chmod(state, 0o777);
    for (const words of [
      ['workspaces', 'list'],
      ['explain', '/'],
      ['recover'],
      ['token', 'rotate'],
      ['serve', '--port', '0'],
    ]) {
      const { code, err } = await run(...words, '--state', state);
      expect([words, code]).toEqual([words, 1]);
      expect(err).toContain('can be written by its group or by others');
    }
    const doctor = await run('doctor', '--state', state);
    expect(doctor.code).toBe(1);
    expect(doctor.out).toMatch(/failure state directory: .*can be written by its group/);
  });
});

describe('what is printed', () => {
  it('shows control characters of names and never sends them to the terminal', async () => {
    const { out, err } = await run(
      'explain',
      '/srv/\u001b[31mred\u0007\u009b0m',
      '--state',
      join(await temporaryDirectory(), 's'),
    );
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for.
    expect(`${out}${err}`).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
    const answer = await run(
      'explain',
      '/srv/\u001b\u009b',
      '--json',
      '--state',
      join(await temporaryDirectory(), 's'),
    );
    expect(answer.out).toContain('\\u009b');
    expect(JSON.parse(answer.out).selector).toBe('/srv/\u001b\u009b');
  });
});

describe('docs/command-line.md', () => {
  const text = readFileSync(new URL('../../docs/command-line.md', import.meta.url), 'utf8');

  it.each(commands)('tells of $name and each of its options', ({ name, options }) => {
    expect(text).toMatch(new RegExp(`\\| \`${name}[\` ]`));
    for (const option of Object.keys(options ?? {})) expect(text).toContain(`--${option}`);
  });

  it('tells of no command that there is not', () => {
    const table = text.slice(0, text.indexOf('## serve'));
    const told = [...table.matchAll(/^\| `([a-z ]+?)(?: PATH)?` \|/gm)].map((match) => match[1]);
    expect(told).toEqual(commands.map(({ name }) => name));
  });
});
