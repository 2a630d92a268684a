import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { parse, serialize } from 'cookie';
import type { Authenticate, Caller } from './caller.ts';
import type { SignIn } from './sign-in.ts';

/** Where the access token lives. */
export interface TokenSource {
  /** The token in force now; asked at every request, so that a rotated token works, and the old one fails, at once. */
  current(): string | Promise<string>;
}

export interface StandaloneOptions {
  /** Milliseconds a browser session lasts; default 12 hours. */
  readonly sessionMs?: number;
  /** Milliseconds a one-time code may wait to be used; default 10 minutes. */
  readonly codeMs?: number;
  readonly landing?: string;
}

/**
 * Authentication of a server that stands alone: one operator, known by the token as a bearer credential (RFC 6750), or by the
 * session cookie a one-time URL was exchanged for. Sessions live in memory and end with the token they were opened under.
 */
export interface StandaloneAuthentication {
  readonly authenticate: Authenticate;
  readonly signIn: SignIn;
  /** A new code for `GET /sign-in?code=`; it works once. */
  issueCode(): string;
}

interface Session {
  readonly endsAt: number;
  readonly tokenDigest: string;
}

const hour = 3_600_000;
const operator: Caller = { subject: 'operator', operator: true };

/** More sessions or codes than this are not kept: the oldest goes first. */
const keptEntries = 1_000;

export function createStandaloneAuthentication(
  tokens: TokenSource,
  options: StandaloneOptions = {},
): StandaloneAuthentication {
  const { sessionMs = 12 * hour, codeMs = hour / 6, landing } = options;
  const sessions = new Map<string, Session>();
  const codes = new Map<string, number>();

  function decide(request: IncomingMessage, token: string): Caller | null {
    const { authorization } = request.headers;
    if (authorization !== undefined) return isBearer(authorization, token) ? operator : null;
    const secret = sessionCookie(request);
    if (secret === null) return null;
    const session = sessions.get(digest(secret));
    const holds =
      session !== undefined && session.endsAt > Date.now() && session.tokenDigest === digest(token);
    return holds ? operator : null;
  }

  async function redeem(code: string, request: IncomingMessage): Promise<string | null> {
    const key = digest(code);
    const endsAt = codes.get(key);
    codes.delete(key);
    if (endsAt === undefined || endsAt <= Date.now()) return null;
    const secret = randomSecret();
    const tokenDigest = digest(await tokens.current());
    keep(sessions, digest(secret), { endsAt: Date.now() + sessionMs, tokenDigest });
    return serialize(cookieName(request), secret, {
      httpOnly: true,
      sameSite: 'strict',
      path: '/',
      maxAge: Math.floor(sessionMs / 1000),
      secure: isEncrypted(request),
    });
  }

  return {
    authenticate: (request) => {
      const token = tokens.current();
      return typeof token === 'string'
        ? decide(request, token)
        : token.then((current) => decide(request, current));
    },
    signIn: { redeem, ...(landing === undefined ? {} : { landing }) },
    issueCode: () => {
      const code = randomSecret();
      keep(codes, digest(code), Date.now() + codeMs);
      return code;
    },
  };
}

function isBearer(authorization: string, token: string): boolean {
  const [, presented] = /^Bearer +([\w.~+/=-]+)$/i.exec(authorization) ?? [];
  if (presented === undefined || presented.length !== token.length || token === '') return false;
  return timingSafeEqual(Buffer.from(presented), Buffer.from(token));
}

/** Cookies do not know ports (RFC 6265, 8.5): two servers on one host would overwrite each other's session under one name. */
function cookieName(request: IncomingMessage): string {
  return `workspace-authority-${request.socket.localPort ?? 0}`;
}

function sessionCookie(request: IncomingMessage): string | null {
  const { cookie } = request.headers;
  if (cookie === undefined) return null;
  return parse(cookie)[cookieName(request)] ?? null;
}

function isEncrypted(request: IncomingMessage): boolean {
  return (request.socket as { encrypted?: boolean }).encrypted === true;
}

function randomSecret(): string {
  return randomBytes(32).toString('base64url');
}

/** Secrets are looked up by digest, so that neither a memory dump nor the time of a look-up gives one away. */
function digest(secret: string): string {
  return createHash('sha256').update(secret).digest('base64url');
}

function keep<Value>(entries: Map<string, Value>, key: string, value: Value): void {
  entries.set(key, value);
  if (entries.size <= keptEntries) return;
  for (const oldest of entries.keys()) {
    entries.delete(oldest);
    return;
  }
}
