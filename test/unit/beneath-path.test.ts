import { describe, expect, it } from 'vitest';
import { parseBeneathPath } from '../../src/capability/beneath-path.ts';
import type { AuthorityError } from '../../src/errors/index.ts';

const long = 'n'.repeat(255);

const accepted = [
  'f',
  'a/b/c',
  '..notes',
  '...',
  'a/..b',
  'a b',
  '%2e%2e',
  'ü/日本',
  ' ',
  long,
  `${long}/${long}`,
  '-',
  '~',
  '\\',
  'a\nb',
];

const refused: readonly (readonly [path: string, code: string, reason: string | null])[] = [
  ['/', 'path_outside_workspace', null],
  ['/etc/passwd', 'path_outside_workspace', null],
  ['//server', 'path_outside_workspace', null],
  ['..', 'path_outside_workspace', null],
  ['../x', 'path_outside_workspace', null],
  ['a/../../x', 'path_outside_workspace', null],
  ['./../x', 'path_outside_workspace', null],
  ['a/./../../x', 'path_outside_workspace', null],
  ['a//../../x', 'path_outside_workspace', null],
  ['', 'invalid_path', 'empty'],
  ['.', 'invalid_path', 'dot component'],
  ['./a', 'invalid_path', 'dot component'],
  ['a/.', 'invalid_path', 'dot component'],
  ['a/../b', 'invalid_path', 'dot component'],
  ['a/..', 'invalid_path', 'dot component'],
  ['a//b', 'invalid_path', 'empty component'],
  ['a/', 'invalid_path', 'empty component'],
  ['a\0b', 'invalid_path', 'nul'],
  ['/a\0b', 'invalid_path', 'nul'],
  ['a\ud800b', 'invalid_path', 'lone surrogate'],
  ['\udc00', 'invalid_path', 'lone surrogate'],
  [`${long}n`, 'invalid_path', 'name too long'],
  ['é'.repeat(128), 'invalid_path', 'name too long'],
  [Array.from({ length: 17 }, () => long).join('/'), 'invalid_path', 'path too long'],
];

describe('parseBeneathPath', () => {
  it.each(accepted)('R10: keeps a plain relative path as it is: %j', (path) => {
    expect(parseBeneathPath(path)).toBe(path);
  });

  it.each(refused)('R10: refuses %j as %s', (path, code, reason) => {
    let refusal: AuthorityError | undefined;
    try {
      parseBeneathPath(path);
    } catch (error) {
      refusal = error as AuthorityError;
    }
    expect(refusal?.code).toBe(code);
    expect(refusal?.details['reason'] ?? null).toBe(reason);
  });
});
