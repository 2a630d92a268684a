import { describe, expect, it } from 'vitest';
import { isAdministrativeName } from '../../src/git/administrative-name.ts';
import { administrativeNames, ordinaryNames } from '../support/administrative-names.ts';

describe('administrative names', () => {
  it.each(administrativeNames)('R12: %j is a name Git treats as .git', (name) => {
    expect(isAdministrativeName(name)).toBe(true);
  });

  it.each(ordinaryNames)('R12: %j is an ordinary name', (name) => {
    expect(isAdministrativeName(name)).toBe(false);
  });
});
