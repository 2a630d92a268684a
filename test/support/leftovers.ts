import { hash, randomBytes } from 'node:crypto';
import { currentProcess, type ProcessOwner } from '../../src/capability/process-owner.ts';
import { contentDigest } from '../../src/capability/transaction-name.ts';

/** A process that ended before this system was started. */
const deadOwner: ProcessOwner = { pid: '1', startTime: '1', pidNamespace: '1', boot: '00000000' };

export interface LeftoverParts {
  readonly target: string;
  /** Contents; null as in a creation or a removal. */
  readonly base: string | null;
  readonly next: string | null;
  readonly owner?: ProcessOwner;
}

/** A name as a transaction of another process would have made it, written down here a second time on purpose. */
export function leftoverName({ target, base, next, owner = deadOwner }: LeftoverParts): string {
  const digest = (content: string | null) => (content === null ? '-' : contentDigest(Buffer.from(content)));
  const stem = `.wa-${randomBytes(16).toString('hex')}.${digest(base)}.${digest(next)}`;
  const { pid, startTime, pidNamespace, boot } = owner;
  const named = `${stem}.${pid}-${startTime}-${pidNamespace}-${boot}.=${target}.tmp`;
  if (Buffer.byteLength(named) <= 250) return named;
  return `${stem}.${pid}-${startTime}-${pidNamespace}-${boot}.~${hash('sha256', target, 'hex').slice(0, 16)}.tmp`;
}

export function livingOwner(change: Partial<ProcessOwner> = {}): ProcessOwner {
  return { ...currentProcess(), ...change };
}
