import { randomBytes } from 'node:crypto';

const processPart = randomBytes(6).toString('hex');
let count = 0;

/** Unique over processes with overwhelming probability, and short to type from a log. A caller's own id is never taken over. */
export function nextRequestId(): string {
  count += 1;
  return `${processPart}-${count.toString(36)}`;
}
