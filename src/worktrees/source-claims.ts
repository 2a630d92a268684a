import { hash } from 'node:crypto';
import { RecordReader } from '../capability/record-reader.ts';
import { parseJsonObject } from '../capability/state-json.ts';
import { AuthorityError } from '../errors/index.ts';
import { journalName } from './journal.ts';
import type { ManagedHome } from './managed-home.ts';

/** Which creation a session has under way. A session makes one worktree after the other, never two at a time. */
interface SourceClaim {
  readonly sourceSessionId: string;
  readonly txId: string;
}

const version = 1;

/**
 * Writes down that the session makes this worktree. A claim is a lease: one whose creation has ended, well or without a trace, is taken
 * over.
 * @throws `source_conflict` (details.previous): another creation of the session has begun and not ended, or the claim cannot be read
 */
export async function claimSource({ records }: ManagedHome, claim: SourceClaim): Promise<void> {
  const name = claimName(claim.sourceSessionId);
  if (await records.create(name, printClaim(claim))) return;
  const known = await records.read(name).catch((cause: unknown) => {
    throw new AuthorityError('source_conflict', { details: { reason: 'claim-unreadable' }, cause });
  });
  if (known === null) throw new AuthorityError('busy');
  const previous = parseClaim(known.bytes);
  if (previous === null || previous.sourceSessionId !== claim.sourceSessionId)
    throw new AuthorityError('source_conflict', { details: { reason: 'claim-invalid' } });
  if (previous.txId === claim.txId) return;
  if ((await records.read(journalName(previous.txId))) !== null)
    throw new AuthorityError('source_conflict', { details: { previous: previous.txId } });
  await records.replace(known, printClaim(claim));
}

/** Takes back what `claimSource` wrote, if it still says so. */
export async function releaseSource({ records }: ManagedHome, claim: SourceClaim): Promise<void> {
  const known = await records.read(claimName(claim.sourceSessionId));
  if (known !== null && parseClaim(known.bytes)?.txId === claim.txId) await records.remove(known);
}

function claimName(sessionId: string): string {
  return `.source-${hash('sha256', sessionId, 'hex')}.json`;
}

function printClaim(claim: SourceClaim): Uint8Array {
  return Buffer.from(`${JSON.stringify({ version, ...claim }, null, 1)}\n`);
}

function parseClaim(bytes: Uint8Array): SourceClaim | null {
  try {
    const reader = new RecordReader(parseJsonObject(bytes), 'claim');
    reader.take('version', `${version}`, (value): value is number => value === version);
    const isText = (value: unknown): value is string => typeof value === 'string';
    const claim = {
      sourceSessionId: reader.take('sourceSessionId', 'a text', isText),
      txId: reader.take('txId', 'a text', isText),
    };
    reader.end();
    return claim;
  } catch {
    return null;
  }
}
