import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import bugs from '../../cases/public-bugs.json' with { type: 'json' };
import { createHttpLab, type HttpLab } from '../../support/http-lab.ts';
import type { TestAnswer, TestRequest } from '../../support/http-server.ts';
import { expectNamedElsewhere } from '../../support/placed-rows.ts';

export type BugScenario = (lab: HttpLab) => Promise<void>;

export interface BugTable {
  /** By row id: what the row asks for, done and looked at. */
  readonly scenarios: Readonly<Record<string, BugScenario>>;
  /** Rows whose promise is below HTTP: the test file that runs them, and names them. */
  readonly elsewhere?: Readonly<Record<string, string>>;
  /** Rows of what is not offered yet, and what they wait for. */
  readonly later?: Readonly<Record<string, string>>;
}

/** Runs the rows of one area against a real service. A row that is in none of the three lists fails. */
export function runBugTable(area: string, clause: string, table: BugTable): void {
  const rows = bugs.filter((row) => row.area === area);
  const { scenarios, elsewhere = {}, later = {} } = table;
  describe(`public bugs: ${area}`, () => {
    let lab: HttpLab;
    beforeAll(async () => {
      lab = await createHttpLab();
    });
    beforeEach(() => lab.reset());
    afterAll(() => lab[Symbol.asyncDispose]());

    it('each row is run here, or it is said where or when it is', () => {
      const placed = [...Object.keys(scenarios), ...Object.keys(elsewhere), ...Object.keys(later)];
      expect(placed.sort()).toEqual(rows.map((row) => row.id).sort());
      expectNamedElsewhere(elsewhere);
    });

    it.each(rows.filter((row) => row.id in scenarios))(`${clause}: $id: not "$wrong"`, async ({ id }) => {
      await scenarios[id]?.(lab);
    });
  });
}

/** Sends a request and expects its status and, for a refusal, its code. */
export async function ask(
  lab: HttpLab,
  request: TestRequest,
  status: number,
  code?: string,
): Promise<TestAnswer> {
  const answer = await lab.server.send(request);
  expect([answer.status, answer.body?.['code']]).toEqual([status, code]);
  if (status >= 400) expectNoLeak(lab, answer);
  return answer;
}

/** A failure names no place on this machine and shows no stack. */
export function expectNoLeak(lab: HttpLab, answer: TestAnswer): void {
  expect(answer.text).not.toContain(lab.sandbox);
  expect(answer.text).not.toMatch(/\bat .*:\d+/);
  expect(answer.text).not.toContain('node_modules');
}

/** A request with query parameters. */
export function get(route: string, parameters: Readonly<Record<string, string>>): TestRequest {
  return { path: `${route}?${new URLSearchParams(parameters)}` };
}

export function change(
  method: 'POST' | 'PUT' | 'PATCH' | 'DELETE',
  path: string,
  json: unknown,
  headers: TestRequest['headers'] = {},
): TestRequest {
  return { method, path, json, headers };
}
