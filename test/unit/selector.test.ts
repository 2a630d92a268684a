import { describe, expect, it } from 'vitest';
import { parseSelector } from '../../src/authority/selector.ts';
import { isAuthorityError } from '../../src/errors/index.ts';

function outcome(text: string): string {
  try {
    return parseSelector(text);
  } catch (error) {
    if (isAuthorityError(error)) return error.code;
    throw error;
  }
}

describe('selectors as text', () => {
  it.each([
    ['/srv/app', '/srv/app'],
    ['/srv/app/', '/srv/app'],
    ['//srv///app/.//', '/srv/app'],
    ['/./srv/app/.', '/srv/app'],
    ['/', '/'],
    ['/srv/a\\b "c" ', '/srv/a\\b "c" '],
    // Only the kernel knows where this leads.
    ['/srv/x/../app', '/srv/x/../app'],
  ])('R01: %j names %j', (text, path) => {
    expect(outcome(text)).toBe(path);
  });

  it.each([
    '',
    'srv/app',
    './app',
    '~/app',
    '~root/app',
    '$HOME/app',
    'file:///srv/app',
    `/${'a'.repeat(4095)}`,
  ])('R01: %j is not authorised, and nothing is expanded', (text) => {
    expect(outcome(text)).toBe('workspace_not_authorized');
  });

  it.each(['/srv/app\0/../../etc', '/srv/app\n', '/srv/\x1b[0m', '/srv/app\x7f', '/srv/\ud800', 'app\0'])(
    'R01: %j is no path at all',
    (text) => {
      expect(outcome(text)).toBe('invalid_request');
    },
  );
});
