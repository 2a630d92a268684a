import { execFile } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isAdministrativeName } from '../../src/git/administrative-name.ts';
import { administrativeNames, ordinaryNames } from '../support/administrative-names.ts';
import { makePlace } from '../support/authority-lab.ts';

const run = promisify(execFile);
let place: string;

beforeAll(async () => {
  place = await makePlace();
  await run('git', ['init', '--quiet', place]);
});

afterAll(async () => {
  await rm(place, { recursive: true, force: true });
});

/** Whether Git refuses a file of this name at the top of an index, with the protection of both file systems on. */
async function gitRefuses(name: string): Promise<boolean> {
  const blob = '0123456789012345678901234567890123456789';
  const protection = ['-c', 'core.protectHFS=true', '-c', 'core.protectNTFS=true'];
  const entry = ['update-index', '--add', '--cacheinfo', `100644,${blob},${name}`];
  try {
    await run('git', ['-C', place, ...protection, ...entry]);
    return false;
  } catch (error) {
    expect((error as { stderr: string }).stderr).toContain('Invalid path');
    return true;
  }
}

describe('administrative names, as real Git sees them', () => {
  it('R12: every name of the table is judged as Git judges it', async () => {
    for (const name of administrativeNames) expect([name, await gitRefuses(name)]).toEqual([name, true]);
    for (const name of ordinaryNames) expect([name, await gitRefuses(name)]).toEqual([name, false]);
  });

  it('R12: names put together at random are judged as Git judges them', async () => {
    const tokens = [
      '.',
      'g',
      'G',
      'i',
      't',
      '~',
      '1',
      ' ',
      ':',
      '\\',
      'x',
      '.git',
      'git~1',
      '\u200c',
      '\ufeff',
      '\u200b',
    ];
    const names = fc
      .array(fc.constantFrom(...tokens), { minLength: 1, maxLength: 6 })
      .map((parts) => parts.join(''))
      .filter((name) => !/^\.{1,2}$/.test(name));
    await fc.assert(
      fc.asyncProperty(names, async (name) => {
        // Git does not look behind a backslash that stands first; we do.
        const refused = (await gitRefuses(name)) || (name.startsWith('\\') && (await gitRefuses(`x${name}`)));
        expect(isAdministrativeName(name)).toBe(refused);
      }),
      { numRuns: 250, examples: [['\\.git'], ['\\x'], ['x\\\\.git']] },
    );
  });
});
