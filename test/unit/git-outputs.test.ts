import { describe, expect, it } from 'vitest';
import { parsePushLines } from '../../src/git/push-lines.ts';
import { parseStatusRecords } from '../../src/git/status-records.ts';

const zero = '0'.repeat(40);
const parse = (...records: string[]) =>
  parseStatusRecords(Buffer.from(records.map((record) => `${record}\0`).join(''), 'latin1'));

describe('git status --porcelain=v2 -z', () => {
  it('R20: names keep every byte, whatever they look like', () => {
    const names = ['plain', ' a  b ', '# x', '1 .M', 'new\nline', '"quoted"', '\xff'];
    for (const path of names) {
      expect(parse(`1 M. N... 100644 100644 100644 ${zero} ${zero} ${path}`)).toEqual([
        { kind: 'changed', staged: 'M', unstaged: '.', path },
      ]);
      const stages = `100644 100644 100644 100644 ${zero} ${zero} ${zero}`;
      expect(parse(`u UU N... ${stages} ${path}`)).toEqual([
        { kind: 'unmerged', staged: 'U', unstaged: 'U', path },
      ]);
      expect(parse(`? ${path}`, `! ${path}`)).toEqual([
        { kind: 'untracked', staged: '?', unstaged: '?', path },
        { kind: 'ignored', staged: '!', unstaged: '!', path },
      ]);
    }
  });

  it('leaves out headers', () => {
    expect(parse(`# branch.oid ${zero}`, '# branch.head main')).toEqual([]);
  });

  it.each([
    ['a rename', `2 R. N... 100644 100644 100644 ${zero} ${zero} R100 new`],
    ['a record without a path', `1 M. N... 100644 100644 100644 ${zero} ${zero}`],
    ['an empty record', ''],
    ['another letter', 'x y'],
    ['an inherited name', 'constructor y'],
  ])('R04: %s is no answer', (_, record) => {
    expect(parse(record)).toBeNull();
  });

  it('R04: an output that is cut off is no answer', () => {
    expect(parseStatusRecords(Buffer.from('? a'))).toBeNull();
  });
});

describe('git push --porcelain', () => {
  it.each([
    ['*\trefs/heads/x:refs/heads/x\t[new branch]', null],
    [' \trefs/heads/x:refs/heads/x\t1111111..2222222', null],
    ['=\trefs/heads/x:refs/heads/x\t[up to date]', null],
    ['!\trefs/heads/x:refs/heads/x\t[rejected] (non-fast-forward)', 'non-fast-forward'],
    ['!\trefs/heads/x:refs/heads/x\t[rejected] (fetch first)', 'non-fast-forward'],
    ['!\trefs/heads/x:refs/heads/x\t[remote rejected] (pre-receive hook declined)', 'refused-there'],
    ['!\trefs/heads/x:refs/heads/x\t[rejected] (stale info)', 'other'],
  ])('R20: %s', (line, rejection) => {
    const output = Buffer.from(`To file:///somewhere\n${line}\nDone\n`);
    expect(parsePushLines(output)).toEqual([{ to: 'refs/heads/x', rejection }]);
  });
});
