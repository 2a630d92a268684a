import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sessionIdOf } from '../../src/dsh/session-logs.ts';
import { escapeId } from './fake-logs.ts';

describe('the directory of a session', () => {
  it.each([
    ['session-1', 'session-1'],
    ['..~002Fevil~0020id', '../evil id'],
    ['~002E~002E', '..'],
    ['~007E0041', '~0041'],
    ['~D83D~DE00', '😀'],
    // Not written by a host.
    ['~zzzz~', '~zzzz~'],
  ])('R28: %s is that of the session %s', (name, id) => {
    expect(sessionIdOf(name)).toBe(id);
  });

  it('R28: names every id, whatever a client took for one', () => {
    const anyText = fc.string({ unit: 'binary', minLength: 1 });
    const units = fc.array(fc.integer({ min: 0, max: 0xffff }), { minLength: 1 });
    const withLoneSurrogates = units.map((codes) => String.fromCharCode(...codes));
    fc.assert(
      fc.property(fc.oneof(anyText, withLoneSurrogates), (id) => {
        expect(sessionIdOf(escapeId(id))).toBe(id);
        expect(escapeId(id)).toMatch(/^[A-Za-z0-9._~-]+$/);
      }),
    );
  });
});
