import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { accessCodes } from '../../src/errors/codes/access-codes.ts';
import { actionCodes } from '../../src/errors/codes/action-codes.ts';
import { archiveCodes } from '../../src/errors/codes/archive-codes.ts';
import { creationCodes } from '../../src/errors/codes/creation-codes.ts';
import { fileCodes } from '../../src/errors/codes/file-codes.ts';
import { forgeCodes } from '../../src/errors/codes/forge-codes.ts';
import { gitCodes } from '../../src/errors/codes/git-codes.ts';
import { requestCodes } from '../../src/errors/codes/request-codes.ts';
import { serviceCodes } from '../../src/errors/codes/service-codes.ts';
import { sessionCodes } from '../../src/errors/codes/session-codes.ts';
import { worktreeCodes } from '../../src/errors/codes/worktree-codes.ts';
import { type CodeRow, errorCodes } from '../../src/errors/index.ts';
import { errorsDocument } from './errors-document.ts';
import { projectRoot, readSources } from './source-files.ts';

const rows = Object.entries<CodeRow>(errorCodes);

describe('the table of error codes', () => {
  it('R41: is documented row by row in docs/errors.md', async () => {
    await expect(errorsDocument()).toMatchFileSnapshot(join(projectRoot, 'docs/errors.md'));
  });

  it('R41: every failure has a non-2xx status', () => {
    expect(rows.filter(([, { status }]) => status < 400 || status > 599)).toEqual([]);
  });

  it('codes are lower_snake_case, titles one sentence, and no two are alike', () => {
    expect(rows.filter(([code]) => !/^[a-z0-9]+(_[a-z0-9]+)*$/.test(code))).toEqual([]);
    expect(rows.filter(([, { title }]) => !/^[^.]+\.$/.test(title))).toEqual([]);
    expect(new Set(rows.map(([, { title }]) => title)).size).toBe(rows.length);
  });

  it('has no code twice, in no two families', () => {
    const families = [
      requestCodes,
      accessCodes,
      fileCodes,
      gitCodes,
      forgeCodes,
      actionCodes,
      archiveCodes,
      creationCodes,
      sessionCodes,
      worktreeCodes,
      serviceCodes,
    ];
    const codes = families.flatMap((family) => Object.keys(family));
    expect(codes.toSorted()).toEqual(Object.keys(errorCodes).toSorted());
  });

  it('has no row that nothing answers with', () => {
    const text = readSources()
      .filter(({ path }) => !path.startsWith('errors/codes'))
      .map((source) => source.text)
      .join('\n');
    expect(rows.map(([code]) => code).filter((code) => !text.includes(`'${code}'`))).toEqual([]);
  });
});
