import { Buffer, isAscii, isUtf8 } from 'node:buffer';
import { AuthorityError } from '../errors/index.ts';

/** Null where the bytes are no text: a NUL anywhere, or bytes that are no UTF-8 and would be damaged by saving them again (W10). */
export function decodeText(bytes: Uint8Array): string | null {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (buffer.includes(0)) return null;
  if (isAscii(buffer)) return buffer.toString('latin1');
  return isUtf8(buffer) ? buffer.toString('utf8') : null;
}

/**
 * Bytes of text a caller wants to store, line endings and byte order mark as sent.
 * @throws `binary_content` for a NUL | `unencodable_text` for a lone surrogate | `file_too_large` (details.limit)
 */
export function encodeText(text: string, limit: number): Buffer {
  if (text.includes('\0')) throw new AuthorityError('binary_content');
  if (!text.isWellFormed()) throw new AuthorityError('unencodable_text');
  return withinLimit(Buffer.from(text, 'utf8'), limit);
}

/** @throws `invalid_request` when the text is not exactly base64 (RFC 4648, 4) | `file_too_large` (details.limit) */
export function decodeBase64(text: string, limit: number): Buffer {
  const bytes = Buffer.from(text, 'base64');
  // Node skips what is no base64; only text that comes back the same was base64 all through.
  if (bytes.toString('base64') !== text) {
    throw new AuthorityError('invalid_request', { details: { field: 'content', reason: 'no base64' } });
  }
  return withinLimit(bytes, limit);
}

function withinLimit(bytes: Buffer, limit: number): Buffer {
  if (bytes.length > limit) throw new AuthorityError('file_too_large', { details: { limit } });
  return bytes;
}
