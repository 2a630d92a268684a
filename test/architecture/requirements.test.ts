import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { clauses, provenClauses, requirementsDocument } from './requirements-document.ts';
import { projectRoot } from './source-files.ts';

/** What the product offers today; a later clause joins when its room is built. */
const built = [
  'R01',
  'R02',
  'R03',
  'R04',
  'R05',
  'R06',
  'R10',
  'R11',
  'R12',
  'R13',
  'R14',
  'R15',
  'R16',
  'R40',
  'R41',
];

describe('the clauses', () => {
  it('are mapped to their tests in docs/requirements.md', async () => {
    await expect(requirementsDocument()).toMatchFileSnapshot(join(projectRoot, 'docs/requirements.md'));
  });

  it.each(built)('%s has tests', (clause) => {
    expect(provenClauses().get(clause)?.size ?? 0).toBeGreaterThan(0);
  });

  it('are the only ones that titles name', () => {
    expect([...provenClauses().keys()].filter((clause) => !(clause in clauses))).toEqual([]);
  });
});
