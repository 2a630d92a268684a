import { AuthorityError } from '../errors/index.ts';

const longestName = 255;
const slash = 0x2f;

/** A cursor is the last name that was given out: an order by bytes needs no more, and entries that come or go do not disturb it. */
export function cursorAfter(name: Uint8Array): string {
  return Buffer.from(name).toString('base64url');
}

/** @throws `invalid_request` for anything that `cursorAfter` cannot have made */
export function parseCursor(cursor: string): Uint8Array {
  const name = Buffer.from(cursor, 'base64url');
  const exact = name.toString('base64url') === cursor;
  if (!exact || name.length === 0 || name.length > longestName || name.includes(0) || name.includes(slash)) {
    throw new AuthorityError('invalid_request', { details: { field: 'cursor' } });
  }
  return name;
}
