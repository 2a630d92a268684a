import { AuthorityError } from '../errors/index.ts';

/** How one forge is asked. */
export interface ForgeHost {
  /** Base of its REST interface, e.g. `https://api.github.com` or `https://forge.example/api/v3`; `http:` only for a loopback address. */
  readonly apiUrl: string;
  /** Asked for at each request, so that it may be renewed; null: there is none. It goes to the origin of `apiUrl` only. */
  readonly token: () => Promise<string | null> | string | null;
}

/** By the host that addresses of remotes name, in lower case. */
export type ForgeHosts = Readonly<Record<string, ForgeHost>>;

/** @throws TypeError for an address to which a token must not go */
export function assertForgeHosts(hosts: ForgeHosts): void {
  for (const [host, { apiUrl }] of Object.entries(hosts)) {
    const url = new URL(apiUrl);
    const isPlain =
      url.protocol === 'http:' && /^(?:127(?:\.\d{1,3}){3}|\[::1\]|localhost)$/.test(url.hostname);
    const isBare = url.username === '' && url.password === '' && url.search === '' && url.hash === '';
    if ((url.protocol !== 'https:' && !isPlain) || !isBare || host !== host.toLowerCase())
      throw new TypeError(`forge ${host}: the address of its interface must be https, without user or query`);
  }
}

/** @throws `forge_not_configured` */
export function forgeHostOf(hosts: ForgeHosts, host: string): ForgeHost {
  const found = Object.hasOwn(hosts, host.toLowerCase()) ? hosts[host.toLowerCase()] : undefined;
  if (found === undefined) throw new AuthorityError('forge_not_configured', { details: { host } });
  return found;
}
