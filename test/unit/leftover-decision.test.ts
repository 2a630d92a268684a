import { describe, expect, it } from 'vitest';
import { decideLeftover, type Standing } from '../../src/files/leftover-decision.ts';

const digests = { base: 'b'.repeat(16), next: 'c'.repeat(16), foreign: 'f'.repeat(16), part: '9'.repeat(16) };
type Content = keyof typeof digests;

function file(content: Content, mode = 0o644, size = 100): Standing {
  return { type: 'file', digest: digests[content], size, mode };
}
const missing: Standing = { type: 'missing', digest: null, size: 0, mode: 0 };
const directory: Standing = { type: 'other', digest: null, size: 4096, mode: 0o755 };
const unreadable: Standing = { type: 'file', digest: null, size: 100, mode: 0 };
const empty: Standing = { type: 'file', digest: 'e'.repeat(16), size: 0, mode: 0o600 };

const kinds = {
  replace: { base: digests.base, next: digests.next },
  'replace by the same': { base: digests.base, next: digests.base },
  create: { base: null, next: digests.next },
  remove: { base: digests.base, next: null },
};

type Row = readonly [
  when: string,
  kind: keyof typeof kinds,
  leftover: Standing,
  target: Standing,
  action: 'removed' | 'restored' | 'kept',
];

const rows: readonly Row[] = [
  ['before the first byte', 'replace', empty, file('base'), 'removed'],
  ['while writing', 'replace', file('part', 0o600), file('base'), 'removed'],
  ['complete, before the exchange', 'replace', file('next', 0o600), file('base'), 'removed'],
  ['complete, and somebody wrote the target since', 'replace', file('next'), file('foreign'), 'removed'],
  ['complete, and somebody removed the target', 'replace', file('next'), missing, 'removed'],
  ['after the exchange', 'replace', file('base'), file('next'), 'removed'],
  [
    'after the exchange, the displaced has a secret mode',
    'replace',
    file('base', 0o600),
    file('next'),
    'removed',
  ],
  [
    'after the exchange, and somebody wrote the target since',
    'replace',
    file('base'),
    file('foreign'),
    'kept',
  ],
  ['after the exchange, and somebody removed the target', 'replace', file('base'), missing, 'kept'],
  ['after the exchange, and somebody put the base back', 'replace', file('base'), file('base'), 'removed'],
  ['after an exchange that displaced a foreign version', 'replace', file('foreign'), file('next'), 'kept'],
  ['the same, with a secret mode', 'replace', file('foreign', 0o600), file('next'), 'kept'],
  ['the same, and the target is gone', 'replace', file('foreign'), missing, 'kept'],
  ['the same, and another foreign version stands', 'replace', file('foreign'), file('part'), 'kept'],
  ['while exchanging back: our own came out', 'replace', file('next'), file('foreign'), 'removed'],
  ['the foreign version stands under the target too', 'replace', file('foreign'), file('foreign'), 'removed'],
  ['a foreign version that others may read, on the base', 'replace', file('foreign'), file('base'), 'kept'],
  ['it displaced a directory', 'replace', directory, file('next'), 'kept'],
  ['it displaced an unreadable file', 'replace', unreadable, file('next'), 'kept'],
  ['unreadable, both sides', 'replace', unreadable, unreadable, 'kept'],
  ['unreadable, on the base', 'replace', unreadable, file('base'), 'kept'],
  ['the target became a directory', 'replace', file('base'), directory, 'kept'],
  ['either side of the exchange', 'replace by the same', file('base'), file('base'), 'removed'],
  ['displaced a foreign version', 'replace by the same', file('foreign'), file('base'), 'kept'],
  ['before the first byte', 'create', empty, missing, 'removed'],
  ['while writing', 'create', file('part', 0o600), missing, 'kept'],
  ['complete', 'create', file('next'), missing, 'removed'],
  ['somebody else made the file', 'create', file('next'), file('foreign'), 'removed'],
  ['while writing, and somebody else made the file', 'create', file('part'), file('foreign'), 'kept'],
  ['somebody else made the very file', 'create', file('part'), file('part'), 'removed'],
  ['a directory under the name', 'create', directory, missing, 'kept'],
  ['after the file was set aside', 'remove', file('base'), missing, 'restored'],
  ['after an empty file was set aside', 'remove', empty, missing, 'restored'],
  ['a foreign version was set aside', 'remove', file('foreign'), missing, 'restored'],
  ['a directory was set aside', 'remove', directory, missing, 'restored'],
  ['an unreadable file was set aside', 'remove', unreadable, missing, 'restored'],
  ['somebody made a new file since', 'remove', file('base'), file('foreign'), 'kept'],
  ['somebody made the same file since', 'remove', file('base'), file('base'), 'removed'],
  ['somebody made a directory since', 'remove', file('base'), directory, 'kept'],
];

describe('what becomes of a leftover', () => {
  it.each(rows)('R14, R15: cut off %s (%s)', (_, kind, leftover, target, action) => {
    expect(decideLeftover(kinds[kind], leftover, target).action).toBe(action);
  });

  it('R15: never removes foreign content that stands nowhere else, whatever else is true', () => {
    const standings = [missing, directory, unreadable, empty, file('base'), file('next'), file('part')];
    for (const kind of Object.keys(kinds) as (keyof typeof kinds)[]) {
      for (const target of standings) {
        for (const mode of [0o600, 0o644, 0o777]) {
          const foreign = file('foreign', mode);
          // The one doubt: an incomplete new file is told from a foreign one by its mode and by the base still standing.
          const likeIncomplete =
            kind.startsWith('replace') && mode === 0o600 && target.digest === digests.base;
          if (!likeIncomplete)
            expect(decideLeftover(kinds[kind], foreign, target).action).not.toBe('removed');
        }
      }
    }
  });
});
