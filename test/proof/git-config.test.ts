import { execFile } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ConfigSyntaxError, parseGitConfig } from '../../src/proof/git-config.ts';
import { makePlace } from '../support/authority-lab.ts';

const run = promisify(execFile);
let place: string;

beforeAll(async () => {
  place = await makePlace();
});

afterAll(async () => {
  await rm(place, { recursive: true, force: true });
});

/** What Git reads, as `name` or `name\nvalue` each. Git 2.39 makes a space of each white space between words. */
async function readByGit(text: string): Promise<string[]> {
  const file = join(place, 'config');
  await writeFile(file, text, 'latin1');
  const { stdout } = await run('git', ['config', '--file', file, '--no-includes', '--list', '-z'], {
    encoding: 'latin1',
  });
  return stdout.split('\0').slice(0, -1).map(withoutTabs);
}

function readByUs(text: string): string[] | null {
  try {
    return parseGitConfig(Buffer.from(text, 'latin1')).map(({ section, subsection, key, value }) => {
      const name = [section, subsection, key].filter((part) => part !== null).join('.');
      return withoutTabs(value === null ? name : `${name}\n${value}`);
    });
  } catch (error) {
    if (error instanceof ConfigSyntaxError) return null;
    throw error;
  }
}

function withoutTabs(text: string): string {
  return text.replaceAll('\t', ' ');
}

describe('Git configuration text, as real Git reads it', () => {
  it('R04: whatever we read, Git reads the same', async () => {
    const tokens = [
      ...[
        '[',
        ']',
        '"',
        '\\',
        '=',
        '#',
        ';',
        ' ',
        '\t',
        '\n',
        '\r\n',
        '\r',
        '.',
        '-',
        '1',
        'a',
        'B',
        '\xe9',
        '\xef\xbb\xbf',
      ],
      ...[
        '[core]\n',
        '[include]\n',
        '[a "b"]\n',
        '[a.b] ',
        'key = value\n',
        'key\n',
        'path=x',
        '\\\n',
        '"x y"',
        '\\t',
        '\\"',
      ],
    ];
    let read = 0;
    const texts = fc.array(fc.constantFrom(...tokens), { maxLength: 12 }).map((parts) => parts.join(''));
    await fc.assert(
      fc.asyncProperty(texts, async (text) => {
        const ours = readByUs(text);
        if (ours === null) return;
        read += 1;
        expect(ours).toEqual(await readByGit(text));
      }),
      { numRuns: 1500 },
    );
    // Most random text is refused; what was compared must be more than the empty text.
    expect(read).toBeGreaterThan(50);
  });

  it('reads what Git itself writes', async () => {
    const file = join(place, 'written');
    const values = [
      ' leading',
      'trailing ',
      'a # b',
      'a;b',
      'say "x"',
      'back\\slash',
      'two\nlines',
      'tab\tbed',
      '',
    ];
    for (const [index, value] of values.entries()) {
      await run('git', ['config', '--file', file, `some.Sub "${index}" \\ x.key`, value]);
    }
    const { stdout } = await run('git', ['config', '--file', file, '--list', '-z'], { encoding: 'latin1' });
    const { stdout: text } = await run('cat', [file], { encoding: 'latin1' });
    expect(readByUs(text)).toEqual(stdout.split('\0').slice(0, -1).map(withoutTabs));
    expect(readByUs(text)).toHaveLength(values.length);
  });
});
