import { AuthorityError } from '../../errors/index.ts';
import type { Exchange } from '../exchange.ts';

/** The parts of a request that tell where it comes from. */
export interface OriginFacts {
  readonly headers: {
    readonly host?: string | undefined;
    readonly origin?: string | undefined;
    readonly 'sec-fetch-site'?: string | string[] | undefined;
    readonly 'x-forwarded-proto'?: string | string[] | undefined;
    readonly 'x-forwarded-host'?: string | string[] | undefined;
    readonly forwarded?: string | undefined;
  };
  readonly socket: Peer & { readonly encrypted?: boolean };
}

export interface Peer {
  readonly remoteAddress?: string | null | undefined;
}

const forwardedNames = ['x-forwarded-proto', 'x-forwarded-host', 'forwarded'];

/**
 * Gate 4 (R40). What changes something must name its origin, and it must be ours; a read may come without `Origin`, as browsers
 * send none for their own pages. Fetch metadata, where sent, must agree; a page's own navigation (`none`) may only read.
 * @throws `same_origin_required`
 */
export type SameOriginGate = (exchange: Exchange) => void;

/** @param trustedProxyHosts authorities that a proxy on this machine may speak for */
export function createSameOriginGate(trustedProxyHosts: readonly string[]): SameOriginGate {
  const trusted = new Set(trustedProxyHosts.map((host) => host.toLowerCase()));
  return (exchange) => {
    const { request, isSafe } = exchange;
    const facts = request as unknown as OriginFacts;
    const site = facts.headers['sec-fetch-site'];
    const passes =
      isSafe && facts.headers.origin === undefined
        ? site === undefined || site === 'same-origin' || site === 'none'
        : sameOrigin(facts, trusted) && !exchange.repeats('origin') && !repeatsForwarded(exchange);
    if (!passes) throw new AuthorityError('same_origin_required');
  };
}

/**
 * Whether `Origin` is the origin this server is reached under: scheme and authority of the connection itself or, told by a proxy on
 * this machine, those of a trusted host. Forwarded headers that contradict each other are refused.
 */
export function sameOrigin(facts: OriginFacts, trustedProxyHosts: ReadonlySet<string>): boolean {
  const { headers, socket } = facts;
  const { host, origin } = headers;
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin') return false;
  if (typeof origin !== 'string' || typeof host !== 'string' || contradictsItself(headers)) return false;
  const scheme = socket.encrypted === true ? 'https' : 'http';
  if (originsEqual(origin, scheme, host)) return true;
  if (!isLoopbackPeer(socket)) return false;
  const forwardedScheme = firstForwarded(headers['x-forwarded-proto']);
  const forwardedHost = firstForwarded(headers['x-forwarded-host']);
  if (forwardedScheme === null && forwardedHost === null) return false;
  const statedHost = forwardedHost ?? host.toLowerCase();
  return trustedProxyHosts.has(statedHost) && originsEqual(origin, forwardedScheme ?? scheme, statedHost);
}

/** 127.0.0.0/8 and ::1 (RFC 1122, 3.2.1.3; RFC 4291, 2.5.3), also written as an IPv4-mapped address. */
export function isLoopbackPeer(peer: Peer): boolean {
  const address = peer.remoteAddress;
  if (typeof address !== 'string') return false;
  if (address === '::1') return true;
  return /^(?:::ffff:)?127(?:\.\d{1,3}){3}$/i.test(address);
}

/** First item of a forwarded header in lower case, or null where it says nothing. */
export function firstForwarded(value?: string | string[]): string | null {
  const text = Array.isArray(value) ? value[0] : value;
  const first = text?.split(',', 1)[0]?.trim().toLowerCase();
  return first === undefined || first === '' ? null : first;
}

function originsEqual(origin: string, scheme: string, host: string): boolean {
  if (origin === `${scheme}://${host}`) return true;
  return withoutDefaultPort(origin.toLowerCase()) === withoutDefaultPort(`${scheme}://${host.toLowerCase()}`);
}

function withoutDefaultPort(origin: string): string {
  if (origin.startsWith('http://') && origin.endsWith(':80')) return origin.slice(0, -3);
  if (origin.startsWith('https://') && origin.endsWith(':443')) return origin.slice(0, -4);
  return origin;
}

/** Two different items in one header, or RFC 7239 `Forwarded` beside the older headers, whose statements are not compared here. */
function contradictsItself(headers: OriginFacts['headers']): boolean {
  const scheme = headers['x-forwarded-proto'];
  const host = headers['x-forwarded-host'];
  if (scheme === undefined && host === undefined) return false;
  return headers.forwarded !== undefined || hasSeveral(scheme) || hasSeveral(host);
}

function hasSeveral(value: string | string[] | undefined): boolean {
  if (value === undefined) return false;
  const items = (Array.isArray(value) ? value.join(',') : value).split(',');
  return new Set(items.map((item) => item.trim().toLowerCase())).size > 1;
}

function repeatsForwarded(exchange: Exchange): boolean {
  return forwardedNames.some((name) => exchange.repeats(name));
}
