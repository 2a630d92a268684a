import { AuthorityError } from '../errors/index.ts';
import type { BaseVersion } from '../files/workspace-files.ts';
import type { Exchange } from './exchange.ts';
import { invalidField } from './gates/shape.ts';

/** `*`, or the listed entity tags as written, quotes and weakness mark included (RFC 9110, 8.8.3). */
type TagList = '*' | readonly string[];

const tagPattern = /^(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"$/;

/**
 * Evaluates If-Match and If-None-Match of a read, in the order of RFC 9110, 13.2.2. True: the caller has this version already.
 * @throws `precondition_failed` (details.etag) | `invalid_request` for a header that is no list of entity tags
 */
export function hasCurrentVersion(exchange: Exchange, etag: string | null): boolean {
  const { headers } = exchange.request;
  if (headers['if-match'] !== undefined) {
    const wanted = parseTags('if-match', headers['if-match']);
    if (wanted !== '*' && (etag === null || !wanted.includes(etag))) throw precondition(etag);
  }
  if (headers['if-none-match'] === undefined) return false;
  const known = parseTags('if-none-match', headers['if-none-match']);
  if (known === '*') return true;
  return etag !== null && known.some((tag) => tag === etag || tag === `W/${etag}`);
}

/** Whether a Range may be answered in part: If-Range needs a strong match (RFC 9110, 13.1.5); a date never is one here. */
export function rangeStillHolds(exchange: Exchange, etag: string | null): boolean {
  const condition = exchange.request.headers['if-range'];
  return condition === undefined || (etag !== null && condition === etag);
}

/**
 * The version a change is based on, from If-Match and the older `baseSha1`; both sent: both must hold. There is no way to say
 * "any version": `*` names none. A weak tag is passed on as it is and equals no version (RFC 9110, 13.1.1).
 * @throws `precondition_required` | `invalid_request` for a `baseSha1` or If-Match of another form
 */
export function baseVersion(exchange: Exchange, baseSha1: string | undefined): BaseVersion {
  const header = exchange.request.headers['if-match'];
  if (baseSha1 !== undefined && !/^[0-9a-f]{40}$/i.test(baseSha1)) {
    throw invalidField('baseSha1', 'invalid', { baseSha1: 'invalid baseSha1' });
  }
  const tags = header === undefined ? [] : parseTags('if-match', header);
  if (tags === '*') throw new AuthorityError('precondition_required');
  if (tags.length > 1) throw invalidField('if-match', 'several entity tags');
  const [etag] = tags;
  if (etag === undefined && baseSha1 === undefined) throw new AuthorityError('precondition_required');
  return {
    ...(baseSha1 === undefined ? {} : { sha1: baseSha1.toLowerCase() }),
    ...(etag === undefined ? {} : { etag }),
  };
}

/**
 * Whether the change may only create. Only `*` has a meaning for a change (RFC 9110, 13.1.2).
 * @throws `invalid_request` for any other If-None-Match
 */
export function mustCreate(exchange: Exchange): boolean {
  const header = exchange.request.headers['if-none-match'];
  if (header === undefined) return false;
  if (header.trim() !== '*') throw invalidField('if-none-match', 'invalid');
  return true;
}

function precondition(etag: string | null): AuthorityError {
  return new AuthorityError('precondition_failed', { details: etag === null ? {} : { etag } });
}

function parseTags(field: string, text: string): TagList {
  if (text.trim() === '*') return '*';
  // A comma is allowed inside the quotes, so the list is cut at the commas that follow a closing quote.
  const tags = text.split(/(?<="\s*),\s*/).map((tag) => tag.trim());
  if (!tags.every((tag) => tagPattern.test(tag))) throw invalidField(field, 'invalid');
  return tags;
}
