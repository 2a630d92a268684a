import type { Authenticate } from './caller.ts';
import type { HttpLimits } from './limits.ts';
import type { AuditSink, HttpLogger } from './request-log.ts';
import type { SignIn } from './sign-in.ts';

export interface HttpOptions {
  /** There is no way to run without it: an unset restriction would be no restriction. */
  readonly authenticate: Authenticate;
  /** `WWW-Authenticate` of a 401; default `Bearer realm="workspace-authority"`. */
  readonly challenge?: string;
  /** Authorities beside the loopback names that may stand in `Host`, as a browser sends them, e.g. `tunnel.example`. */
  readonly allowedHosts?: readonly string[];
  /** Authorities a proxy on this machine may speak for with X-Forwarded-Host and X-Forwarded-Proto. */
  readonly trustedProxyHosts?: readonly string[];
  /** Default: pino on standard error at level `info`. */
  readonly logger?: HttpLogger;
  /** Receives failed and changing requests. */
  readonly audit?: AuditSink;
  readonly limits?: Partial<HttpLimits>;
  /** Offers `GET /sign-in`, which turns a one-time code into a session cookie. */
  readonly signIn?: SignIn;
}

/** Grace for `drain`: what a running request may take before its waits are aborted. */
export interface DrainOptions {
  /** Milliseconds; default 10,000. */
  readonly graceMs?: number;
}

/** Something that takes requests and can stop taking them. */
export interface Drainable {
  /** New requests get 503 `shutting_down`; resolves when the running ones have ended. */
  drain(options?: DrainOptions): Promise<void>;
}
