import { Buffer, isUtf8 } from 'node:buffer';
import { AuthorityError } from '../../errors/index.ts';
import type { Exchange } from '../exchange.ts';
import { sendContinue } from '../expect-continue.ts';
import type { HttpLimits } from '../limits.ts';

/**
 * Gate 6, first half: reads the body within its size and time, and parses it as one JSON object. An empty body is `{}`.
 * @throws `body_too_large` | `request_timeout` | `aborted` | `malformed_json` | `json_object_required`
 */
export async function readJsonBody(exchange: Exchange, limits: HttpLimits): Promise<object> {
  const bytes = await readBody(exchange, limits);
  if (bytes.length === 0) return {};
  if (!isUtf8(bytes)) throw new AuthorityError('malformed_json');
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString('utf8'));
  } catch (cause) {
    throw new AuthorityError('malformed_json', { cause });
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new AuthorityError('json_object_required');
  }
  return value;
}

function readBody(exchange: Exchange, limits: HttpLimits): Promise<Buffer> {
  const { request } = exchange;
  const declared = Number(request.headers['content-length'] ?? 0);
  if (declared > limits.bodyBytes) return Promise.reject(tooLarge(limits));
  if (request.readableEnded) {
    const cause = new Error('the body was already read: mount this router before any body parser');
    return Promise.reject(new AuthorityError('internal_error', { cause }));
  }
  if (request.destroyed) return Promise.reject(new AuthorityError('aborted'));
  sendContinue(request, exchange.response);
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let received = 0;
    const timer = setTimeout(() => settle(new AuthorityError('request_timeout')), limits.bodyTimeoutMs);
    function settle(error: AuthorityError | null): void {
      clearTimeout(timer);
      request.off('data', onData).off('end', onEnd).off('close', onClose).off('error', onClose);
      if (error === null) {
        exchange.bodyRead = true;
        resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, received));
      } else {
        request.pause();
        reject(error);
      }
    }
    function onData(chunk: Buffer): void {
      received += chunk.length;
      if (received > limits.bodyBytes) settle(tooLarge(limits));
      else chunks.push(chunk);
    }
    function onEnd(): void {
      settle(null);
    }
    // The connection ended before the body did (an error event is followed by nothing else on a dropped connection).
    function onClose(): void {
      settle(new AuthorityError('aborted'));
    }
    request.on('data', onData).on('end', onEnd).on('close', onClose).on('error', onClose);
  });
}

function tooLarge(limits: HttpLimits): AuthorityError {
  return new AuthorityError('body_too_large', { details: { limit: limits.bodyBytes } });
}
