import { describe, expect, it } from 'vitest';
import type { AuthorityError } from '../../src/errors/index.ts';
import { assertCurrentBase, assertNamesVersion, staleBase } from '../../src/files/base-version.ts';
import { versionOf } from '../../src/files/content-version.ts';

const standing = versionOf(Buffer.from('hello\n'));
const other = versionOf(Buffer.from('other\n'));

function codeOf(run: () => void): string | null {
  try {
    run();
    return null;
  } catch (error) {
    return (error as AuthorityError).code;
  }
}

describe('the version a change is based on', () => {
  it('is named by the hashes that other tools compute', () => {
    // printf 'hello\n' | sha1sum; printf 'hello\n' | openssl dgst -sha256 -binary | basenc --base64url
    expect(standing).toEqual({
      sha1: 'f572d396fae9206628714fb2ce00f72e94f2258f',
      etag: '"sha256-WJG1tSLV3whtD_CxEPvZ0hu0_HFjrzTQgoai6Eb2vgM"',
      size: 6,
    });
  });

  it.each([
    ['nothing', {}, 'precondition_required'],
    ['a short hash', { sha1: 'f572d39' }, 'invalid_request'],
    ['no hash', { sha1: '' }, 'invalid_request'],
    ['a hash with a line end', { sha1: `${standing.sha1}\n` }, 'invalid_request'],
    ['a hash', { sha1: standing.sha1 }, null],
    ['a tag', { etag: 'anything' }, null],
  ])('R13: must be named: %s', (_, base, code) => {
    expect(codeOf(() => assertNamesVersion(base))).toBe(code);
  });

  it.each([
    ['the hash', { sha1: standing.sha1 }, null],
    ['the hash in upper case (W23)', { sha1: standing.sha1.toUpperCase() }, null],
    ['the tag', { etag: standing.etag }, null],
    ['both', { sha1: standing.sha1, etag: standing.etag }, null],
    ['a stale hash', { sha1: other.sha1 }, 'conflict'],
    ['a stale tag', { etag: other.etag }, 'precondition_failed'],
    ['a good hash and a stale tag', { sha1: standing.sha1, etag: other.etag }, 'precondition_failed'],
    ['a stale hash and a good tag', { sha1: other.sha1, etag: standing.etag }, 'conflict'],
    ['a weak tag', { etag: `W/${standing.etag}` }, 'precondition_failed'],
    ['a tag in another case', { etag: standing.etag.toUpperCase() }, 'precondition_failed'],
    ['any tag', { etag: '*' }, 'precondition_failed'],
  ])('R13: holds only when every part does: %s', (_, base, code) => {
    expect(codeOf(() => assertCurrentBase(base, standing))).toBe(code);
  });

  it('R13: a refusal says what stands there now', () => {
    const details = { ...standing, kept: ['x.kept'] };
    expect(staleBase({ sha1: other.sha1 }, standing, ['x.kept']).details).toEqual(details);
    expect(staleBase({ etag: other.etag }, standing, ['x.kept']).details).toEqual(details);
  });
});
