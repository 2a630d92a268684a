/** Where a forge keeps a repository, as far as the address of a remote tells. */
export interface ForgeIdentity {
  readonly host: string;
  readonly owner: string;
  readonly repo: string;
}

/** Longest address that is shown or parsed. */
const maxLength = 2048;

const schemes = new Set(['https:', 'http:', 'ssh:', 'git:', 'git+ssh:', 'ssh+git:']);

/**
 * The address of a remote as it may be shown: without user, password, query and fragment, all of which can hold secrets. Null for what
 * cannot be shown for certain without them. A path of this machine is shown as it is.
 */
export function shownRemoteAddress(address: string): string | null {
  if (address === '' || address.length > maxLength || /\p{Cc}/u.test(address)) return null;
  if (isLocalPath(address)) return address;
  if (hasWhiteSpace(address)) return null;
  // `<transport>::<address>` names a program (gitremote-helpers(7)); what its address holds only that program knows.
  if (/^[A-Za-z0-9+.-]+::/.test(address)) return null;
  if (address.includes('://')) return withoutSecrets(address);
  const short = parseScpForm(address);
  return short === null ? null : `${short.host}:${short.path}`;
}

/**
 * The identity of the repository on its forge: exactly owner and repository behind an https, ssh or git address, or the short form of
 * ssh. `ssh.github.com` is where github.com answers ssh on the port of https. Null for every other address.
 */
export function parseForgeIdentity(address: string): ForgeIdentity | null {
  if (address.length > maxLength || hasWhiteSpace(address)) return null;
  const place = address.includes('://') ? parseUrl(address) : parseScpForm(address);
  if (place === null) return null;
  const [owner, repository, ...more] = place.path.replace(/^\/+/, '').replace(/\/+$/, '').split('/');
  if (owner === undefined || repository === undefined || more.length > 0) return null;
  const repo = repository.replace(/\.git$/, '');
  const host = place.host.toLowerCase();
  if (!isForgeName(owner) || !isForgeName(repo) || !isHostName(host)) return null;
  return { host: host === 'ssh.github.com' ? 'github.com' : host, owner, repo };
}

interface Place {
  readonly host: string;
  readonly path: string;
}

function parseUrl(address: string): Place | null {
  const url = tryUrl(address);
  if (url === null || !schemes.has(url.protocol) || url.search !== '' || url.hash !== '') return null;
  return { host: url.hostname, path: url.pathname };
}

/** `[user@]host:path`; a slash before the first colon makes it a path of this machine (git-clone(1), "GIT URLS"). */
function parseScpForm(address: string): Place | null {
  const parts = /^(?:[^@/:]*@)?([A-Za-z0-9.-]+):(?!\/\/)([^:@?#]+)$/.exec(address);
  if (parts?.[1] === undefined || parts[2] === undefined || parts[1].startsWith('-')) return null;
  return { host: parts[1], path: parts[2] };
}

function withoutSecrets(address: string): string | null {
  const url = tryUrl(address);
  if (url === null) return null;
  if (url.protocol === 'file:') return `file://${url.host}${url.pathname}`;
  if (url.host === '' || !schemes.has(url.protocol)) return null;
  // The short form may hold a user's name in a path; an address keeps it before the host only.
  return `${url.protocol}//${url.host}${url.pathname}`;
}

function tryUrl(address: string): URL | null {
  try {
    return new URL(address);
  } catch {
    return null;
  }
}

function isLocalPath(address: string): boolean {
  return /^(?:\/|\.\.?\/|\.\.?$)/.test(address);
}

function isForgeName(name: string): boolean {
  return /^[A-Za-z0-9._-]{1,100}$/.test(name) && !/^[.-]/.test(name);
}

function isHostName(host: string): boolean {
  return /^[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?$/.test(host);
}

function hasWhiteSpace(text: string): boolean {
  return /[\p{Cc}\s]/u.test(text);
}
