import { describe, expect, it } from 'vitest';
import { type GitProgress, ProgressLines } from '../../src/git/progress-lines.ts';

/** As Git writes it, in pieces that end anywhere. */
function take(pieces: readonly string[]): { readonly kept: string; readonly told: readonly GitProgress[] } {
  const told: GitProgress[] = [];
  const lines = new ProgressLines((progress) => told.push(progress));
  const kept = pieces.map((piece) => lines.push(Buffer.from(piece)));
  return { kept: Buffer.concat([...kept, lines.end()]).toString(), told };
}

const half = 'Updating files:  50% (5/10)\r';
const all = 'Updating files: 100% (10/10)\rUpdating files: 100% (10/10), done.\n';

describe('progress in what Git says', () => {
  it.each<readonly [string, readonly string[], string, readonly number[]]>([
    ['is told and taken out', [half + all], '', [5, 10, 10]],
    [
      'may come in pieces',
      ['Updating fi', 'les:  50% (5', '/10)\r', all.slice(0, 20), all.slice(20)],
      '',
      [5, 10, 10],
    ],
    [
      'leaves a failure whole',
      [half, 'error: unable to write file x\n'],
      'error: unable to write file x\n',
      [5],
    ],
    ['leaves a line that never ends', ['fatal: no'], 'fatal: no', []],
    ['is not a line of a failure that speaks of it', ['error: 50% (5/10)\n'], 'error: 50% (5/10)\n', []],
    ['is not a line without end', ['x'.repeat(5000), half], `${'x'.repeat(5000)}`, [5]],
  ])('R25: %s', (_, pieces, kept, done) => {
    const taken = take(pieces);
    expect([taken.kept, taken.told.map((one) => one.done)]).toEqual([kept, done]);
  });
});
