import { parse } from 'content-type';
import { AuthorityError } from '../../errors/index.ts';
import type { Exchange } from '../exchange.ts';

/**
 * Gate 3 (R40). A page of another origin can send form types and text/plain without asking first; `application/json` needs a
 * preflight, which is never granted here. JSON is UTF-8 (RFC 8259, 8.1), so no other charset and no content coding is accepted.
 * Runs before a byte of the body is read.
 * @throws `json_required`
 */
export function mediaTypeGate(exchange: Exchange): void {
  const { headers } = exchange.request;
  const type = headers['content-type'];
  const coding = headers['content-encoding'];
  const accepted =
    type !== undefined &&
    (type === 'application/json' || isJson(type)) &&
    !exchange.repeats('content-type') &&
    (coding === undefined || coding === 'identity');
  if (!accepted) throw new AuthorityError('json_required');
}

function isJson(text: string): boolean {
  try {
    const { type, parameters } = parse(text);
    const charset = parameters['charset'];
    return type === 'application/json' && (charset === undefined || charset.toLowerCase() === 'utf-8');
  } catch {
    return false;
  }
}
