import { type LeftoverParts, leftoverName } from '../support/leftovers.ts';

export const replacing = { target: 'f', base: 'old', next: 'new' };
export const creating = { target: 'f', base: null, next: 'new' };
export const removing = { target: 'f', base: 'old', next: null };

/** One leftover of a dead process and what must become of it. */
export interface LeftoverRow {
  readonly when: string;
  readonly parts: LeftoverParts;
  /** Content of the leftover; `TMP` in `tree` and `after` stands for its name, `KEPT` for the name it is kept under. */
  readonly tree: readonly string[];
  readonly after: readonly string[];
  readonly actions: readonly string[];
}

/** Every state in which a change can be cut off, and what others may have done by then. */
export const leftoverRows: readonly LeftoverRow[] = [
  {
    when: 'before the exchange',
    parts: replacing,
    tree: ['f: old', 'TMP: new'],
    after: ['f: old'],
    actions: ['removed TMP'],
  },
  {
    when: 'after the exchange',
    parts: replacing,
    tree: ['f: new', 'TMP: old'],
    after: ['f: new'],
    actions: ['removed TMP'],
  },
  {
    when: 'an empty beginning',
    parts: replacing,
    tree: ['f: old', 'TMP: '],
    after: ['f: old'],
    actions: ['removed TMP'],
  },
  {
    when: 'a foreign version came out',
    parts: replacing,
    tree: ['f: new', 'TMP: foreign'],
    after: ['KEPT: foreign', 'f: new'],
    actions: ['kept KEPT'],
  },
  {
    when: 'a foreign version stands, ours came out',
    parts: replacing,
    tree: ['f: foreign', 'TMP: new'],
    after: ['f: foreign'],
    actions: ['removed TMP'],
  },
  {
    when: 'the base came out, a foreign version stands',
    parts: replacing,
    tree: ['f: foreign', 'TMP: old'],
    after: ['KEPT: old', 'f: foreign'],
    actions: ['kept KEPT'],
  },
  {
    when: 'the base came out, nothing stands',
    parts: replacing,
    tree: ['TMP: old'],
    after: ['KEPT: old'],
    actions: ['kept KEPT'],
  },
  {
    when: 'a link came out',
    parts: replacing,
    tree: ['f: new', 'TMP -> f'],
    after: ['KEPT -> f', 'f: new'],
    actions: ['kept KEPT'],
  },
  {
    when: 'a directory came out',
    parts: replacing,
    tree: ['f: new', 'TMP/x: y'],
    after: ['KEPT/', 'KEPT/x: y', 'f: new'],
    actions: ['kept KEPT'],
  },
  {
    when: 'a FIFO came out',
    parts: replacing,
    tree: ['f: new', 'TMP |'],
    after: ['KEPT |', 'f: new'],
    actions: ['kept KEPT'],
  },
  {
    when: 'a link stands under the name',
    parts: replacing,
    tree: ['o: new', 'f -> o', 'TMP: old'],
    after: ['KEPT: old', 'f -> o', 'o: new'],
    actions: ['kept KEPT'],
  },
  {
    when: 'before the name was taken',
    parts: creating,
    tree: ['TMP: new'],
    after: [],
    actions: ['removed TMP'],
  },
  {
    when: 'half written, or put there by somebody else',
    parts: creating,
    tree: ['TMP: ne'],
    after: ['KEPT: ne'],
    actions: ['kept KEPT'],
  },
  {
    when: 'somebody took the name',
    parts: creating,
    tree: ['f: x', 'TMP: new'],
    after: ['f: x'],
    actions: ['removed TMP'],
  },
  { when: 'set aside', parts: removing, tree: ['TMP: old'], after: ['f: old'], actions: ['restored f'] },
  {
    when: 'a foreign version was set aside',
    parts: removing,
    tree: ['TMP: foreign'],
    after: ['f: foreign'],
    actions: ['restored f'],
  },
  {
    when: 'a link was set aside',
    parts: removing,
    tree: ['TMP -> x'],
    after: ['f -> x'],
    actions: ['restored f'],
  },
  {
    when: 'set aside, and a new file stands',
    parts: removing,
    tree: ['f: x', 'TMP: old'],
    after: ['KEPT: old', 'f: x'],
    actions: ['kept KEPT'],
  },
  {
    when: 'set aside, and the same stands',
    parts: removing,
    tree: ['f: old', 'TMP: old'],
    after: ['f: old'],
    actions: ['removed TMP'],
  },
];

const longTarget = '長'.repeat(80);
/** Names that cannot be written into the leftover, and names that a stranger made up. */
export const namedRows: readonly LeftoverRow[] = [
  {
    when: 'a long name, after the exchange',
    parts: { ...replacing, target: longTarget },
    tree: [`${longTarget}: new`, 'TMP: old'],
    after: [`${longTarget}: new`],
    actions: ['removed TMP'],
  },
  {
    when: 'a long name, a foreign version came out',
    parts: { ...replacing, target: longTarget },
    tree: [`${longTarget}: new`, 'TMP: x'],
    after: ['KEPT: x', `${longTarget}: new`],
    actions: ['kept KEPT'],
  },
  {
    when: 'a long name that was set aside cannot be given back',
    parts: { ...removing, target: longTarget },
    tree: ['TMP: old'],
    after: ['KEPT: old'],
    actions: ['kept KEPT'],
  },
  {
    when: 'a planted leftover must not make a .git',
    parts: { ...removing, target: '.git' },
    tree: ['TMP: gitdir: /evil'],
    after: ['KEPT: gitdir: /evil'],
    actions: ['kept KEPT'],
  },
  {
    when: 'nor one in disguise',
    parts: { ...removing, target: '.g\u200cit' },
    tree: ['TMP: gitdir: /evil'],
    after: ['KEPT: gitdir: /evil'],
    actions: ['kept KEPT'],
  },
  {
    when: 'nor another leftover',
    parts: { ...removing, target: `${leftoverName(removing).slice(0, 60)}.tmp` },
    tree: ['TMP: x'],
    after: ['KEPT: x'],
    actions: ['kept KEPT'],
  },
  {
    when: 'a planted name of the parent',
    parts: { ...removing, target: '..' },
    tree: ['TMP: x'],
    after: ['KEPT: x'],
    actions: ['kept KEPT'],
  },
];
