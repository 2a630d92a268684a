import { AuthorityError } from '../../errors/index.ts';
import type { Exchange } from '../exchange.ts';

/**
 * Gate 1. A page whose name was rebound to our address still sends its own name as `Host`: only the loopback names with the port
 * we listen on, and the exact authorities the operator named, are answered (W48). An address literal is not excused.
 * @throws `host_not_allowed`
 */
export type HostGate = (exchange: Exchange) => void;

/** @param allowedHosts authorities as a browser sends them, with the port unless it is the scheme's default */
export function createHostGate(allowedHosts: readonly string[]): HostGate {
  const named = allowedHosts.map((host) => host.toLowerCase());
  const setsByPort = new Map<number, ReadonlySet<string>>();
  return (exchange) => {
    const port = exchange.request.socket.localPort ?? 0;
    let allowed = setsByPort.get(port);
    if (allowed === undefined) {
      allowed = new Set([...named, ...loopbackAuthorities(port)]);
      setsByPort.set(port, allowed);
    }
    const host = exchange.request.headers.host;
    if (host === undefined || !allowed.has(host.toLowerCase()) || exchange.repeats('host')) {
      throw new AuthorityError('host_not_allowed');
    }
  };
}

/** Port 0 stands for a socket without one (a Unix socket), which has no loopback names. */
function loopbackAuthorities(port: number): string[] {
  if (port === 0) return [];
  const names = ['localhost', '127.0.0.1', '[::1]'];
  const withPort = names.map((name) => `${name}:${port}`);
  return port === 80 ? [...withPort, ...names] : withPort;
}
