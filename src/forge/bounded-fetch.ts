import { AuthorityError } from '../errors/index.ts';

/** Milliseconds in which an answer is whole. */
const deadline = 15_000;

/** Bytes of the longest answer that is read. */
const longestAnswer = 8 * 1024 * 1024;

const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

type Request = RequestInit & { readonly signal?: AbortSignal | null };

/**
 * Fetches from one origin only, whole answers of bounded size in bounded time. A repository that was renamed answers with its place by id; that
 * is followed once, for reading, and only on the same origin.
 * @throws `forge_unavailable` | `forge_response_invalid` (details.reason `redirect`, `too-long`) | `aborted`
 */
export async function boundedFetch(origin: string, url: string, request: Request = {}): Promise<Response> {
  const timeout = AbortSignal.timeout(deadline);
  const signal = request.signal ? AbortSignal.any([timeout, request.signal]) : timeout;
  const ask = (address: string) => askOnce(origin, address, { ...request, signal, redirect: 'manual' });
  try {
    const answer = await ask(url);
    if (!redirects.has(answer.status)) return answer;
    const target = redirectTarget(answer, url, origin);
    if (target === null || (request.method ?? 'GET') !== 'GET') throw invalid('redirect');
    const second = await ask(target);
    if (redirects.has(second.status)) throw invalid('redirect');
    return second;
  } catch (cause) {
    if (cause instanceof AuthorityError) throw cause;
    if (request.signal?.aborted) throw new AuthorityError('aborted');
    // The cause may name the address asked, never a header.
    throw new AuthorityError('forge_unavailable', {
      details: { reason: timeout.aborted ? 'deadline' : 'network' },
    });
  }
}

async function askOnce(origin: string, address: string, request: RequestInit): Promise<Response> {
  if (new URL(address).origin !== origin) throw invalid('redirect');
  const response = await fetch(address, request);
  const { status, headers } = response;
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body ?? []) {
    length += chunk.byteLength;
    if (length > longestAnswer) throw invalid('too-long');
    chunks.push(chunk);
  }
  const isEmpty = status === 204 || status === 205 || status === 304;
  return new Response(isEmpty ? null : Buffer.concat(chunks), { status, headers });
}

/** Only the form in which a renamed or transferred repository is named by its id. */
function redirectTarget(answer: Response, asked: string, origin: string): string | null {
  const location = answer.headers.get('location');
  if (location === null || !URL.canParse(location, asked)) return null;
  const target = new URL(location, asked);
  const isById = /\/repositories\/\d+(?:\/|$)/.test(target.pathname);
  return target.origin === origin && target.username === '' && target.password === '' && isById
    ? target.href
    : null;
}

function invalid(reason: string): AuthorityError {
  return new AuthorityError('forge_response_invalid', { details: { reason } });
}
