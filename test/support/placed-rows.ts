import { existsSync, readFileSync } from 'node:fs';
import { expect } from 'vitest';

/** Rows of a case file that other test files run, by id: each of these files must name its rows, in full. */
export function expectNamedElsewhere(elsewhere: Readonly<Record<string, string>>): void {
  const unnamed = Object.entries(elsewhere).filter(([id, file]) => !names(file, id));
  expect(unnamed).toEqual([]);
}

function names(file: string, id: string): boolean {
  return existsSync(file) && new RegExp(`(?<![\\w-])${id}(?![\\w-])`).test(readFileSync(file, 'utf8'));
}
