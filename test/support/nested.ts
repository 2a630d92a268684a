import { expect } from 'vitest';
import { ask, get } from '../http/public-bugs/bug-table.ts';
import type { HttpLab } from './http-lab.ts';

/** A registered directory inside a repository gets none of what the repository around it has (R03). */
export async function expectNestedRefused(lab: HttpLab, route: string): Promise<void> {
  const { body } = await ask(lab, get(route, { cwd: lab.nested }), 403, 'git_root_not_authorized');
  expect(body?.['error']).toBe('git repository root not authorized');
}
