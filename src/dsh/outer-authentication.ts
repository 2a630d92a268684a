import type { IncomingMessage } from 'node:http';
import { AuthorityError } from '../errors/index.ts';
import type { Authenticate, Caller } from '../http/index.ts';
import { type HostServices, methodOf } from './host-services.ts';

/** A host has one user, and whoever it lets in may do what that user may. */
const user: Caller = { subject: 'dsh', operator: true };

/** As a browser writes them, with or without a port. */
const loopbackHost = /^(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?$/i;

const forwardedNames = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto'];

/**
 * Who the host would let in. A route of a plugin has no protection but its own: the host's fence stands before `/api` only.
 *
 * 0.2.x: `ctx.connection.requestRejection(request)`, which looks at Host, Origin and the signed cookie and answers with 401, 403 or undefined.
 * 0.1.x has no credentials at all: there, as for the host's own privileged methods, a call must come from this machine under a loopback name.
 * @param mode `loopback` lets that rule stand for a host without a connection service, which is refused otherwise
 */
export function createOuterAuthentication(host: HostServices, mode: 'host' | 'loopback'): Authenticate {
  return (request) => {
    const connection = host.get('connection');
    const requestRejection = methodOf(connection, 'requestRejection');
    if (requestRejection !== undefined) {
      const rejection = requestRejection(request);
      return rejection instanceof Promise ? rejection.then(callerAfter) : callerAfter(rejection);
    }
    if (connection === undefined && mode === 'host')
      throw new AuthorityError('host_authentication_unavailable');
    return isLocal(request) ? user : null;
  };
}

/** @throws `host_authentication_unavailable` when the answer is none that is known */
function callerAfter(rejection: unknown): Caller | null {
  if (rejection === undefined) return user;
  if (rejection === 401) return null;
  if (rejection === 403) throw new AuthorityError('host_not_allowed');
  throw new AuthorityError('host_authentication_unavailable');
}

/** Behind a proxy the peer is not the caller. */
function isLocal({ headers, socket }: IncomingMessage): boolean {
  const address = socket.remoteAddress ?? '';
  const isLoopbackPeer = address === '::1' || /^(?:::ffff:)?127(?:\.\d{1,3}){3}$/i.test(address);
  return (
    isLoopbackPeer &&
    loopbackHost.test(headers.host ?? '') &&
    forwardedNames.every((name) => headers[name] === undefined)
  );
}
