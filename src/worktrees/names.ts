import { randomInt } from 'node:crypto';
import { basename } from 'node:path/posix';

const longestSlug = 60;
const longestMainPart = 24;
const longestBranchPart = 40;

/**
 * A text as part of a file name (wire contract, section 2): lower case, other characters than letters, digits, `.`, `_` and `-` as `-`, at
 * most 60. Never empty, and never a name that begins with a dot or a dash.
 */
export function slugOf(text: string): string {
  const plain = text
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, '-')
    .replace(/\.{2,}/g, '.');
  return trimmed(trimmed(plain).slice(0, longestSlug)) || 'wt';
}

/** The name of a worktree's directory, from the directory of its main checkout and its branch. */
export function leafOf(mainRoot: string, branch: string): string {
  const main = trimmed(slugOf(basename(mainRoot)).slice(0, longestMainPart));
  const tail = trimmed(slugOf(branch).slice(0, longestBranchPart));
  return `${main || 'wt'}-${tail || 'wt'}`;
}

/** The name itself, then with `-1` to `-999` behind it. */
export function* alternativesOf(name: string): Generator<string> {
  yield name;
  for (let number = 1; number <= 999; number += 1) yield `${name}-${number}`;
}

/** A name that people can say, with enough chance in it that two rarely meet. */
export function mnemonicName(): string {
  const pick = (words: readonly string[]) => words[randomInt(words.length)] ?? 'plain';
  return `${pick(adjectives)}-${pick(nouns)}-${randomInt(0x10000).toString(16).padStart(4, '0')}`;
}

function trimmed(text: string): string {
  return text.replace(/^[-.]+|[-.]+$/g, '');
}

const adjectives = [
  'amber',
  'brisk',
  'calm',
  'clear',
  'deep',
  'early',
  'fair',
  'gentle',
  'green',
  'keen',
  'light',
  'mild',
  'neat',
  'proud',
  'quiet',
  'rapid',
  'sharp',
  'silver',
  'steady',
  'sunny',
  'swift',
  'tidy',
  'warm',
  'wide',
];
const nouns = [
  'acorn',
  'anchor',
  'arch',
  'birch',
  'brook',
  'cedar',
  'cliff',
  'cloud',
  'coast',
  'ember',
  'fern',
  'field',
  'harbor',
  'hill',
  'lake',
  'lantern',
  'meadow',
  'oak',
  'pebble',
  'pine',
  'ridge',
  'river',
  'stone',
  'willow',
];
