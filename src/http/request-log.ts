import pino from 'pino';
import type { AuthorityError } from '../errors/index.ts';
import type { Exchange } from './exchange.ts';

/** What this room asks of a logger; a pino logger fits. */
export interface HttpLogger {
  debug(facts: object, message: string): void;
  info(facts: object, message: string): void;
  error(facts: object, message: string): void;
}

/** One line of `audit.jsonl`: who did or was refused what. Never content, credentials, or a path outside an authorised root. */
export interface AuditEvent {
  /** ISO 8601. */
  readonly time: string;
  readonly requestId: string;
  /** Null where the caller was not known. */
  readonly subject: string | null;
  /** Method and path of a known route; null for any other request. */
  readonly route: string | null;
  readonly status: number;
  readonly code: string | null;
  /** Canonical root the request was authorised for. */
  readonly root: string | null;
  /** Path below the root. */
  readonly path: string | null;
}

/** Receives failed and changing requests. It must not throw and is not waited for. */
export interface AuditSink {
  record(event: AuditEvent): void;
}

/** Writes what became of a request: failures and changes at `info` and to the audit, reads only at `debug`. */
export interface RequestLog {
  finished(exchange: Exchange, outcome: Outcome): void;
}

export interface Outcome {
  readonly route: string | null;
  readonly changes: boolean;
  readonly error: AuthorityError | null;
}

export function createRequestLog(logger: HttpLogger, audit: AuditSink | null): RequestLog {
  return {
    finished(exchange, outcome) {
      const { error } = outcome;
      if (error === null && !outcome.changes) {
        logger.debug({ requestId: exchange.requestId, route: outcome.route }, 'read');
        return;
      }
      const event = describe(exchange, outcome);
      const { time: _time, ...facts } = event;
      if (error !== null && error.status >= 500)
        logger.error({ ...facts, err: error.cause ?? error }, 'failed');
      else logger.info(facts, error === null ? 'changed' : 'refused');
      audit?.record(event);
    },
  };
}

/** Standard error, so that standard output stays free for what a program answers. */
export function createDefaultLogger(): HttpLogger {
  return pino({ name: 'workspace-authority', base: null }, pino.destination(2));
}

function describe(exchange: Exchange, outcome: Outcome): AuditEvent {
  return {
    time: new Date().toISOString(),
    requestId: exchange.requestId,
    subject: exchange.caller?.subject ?? null,
    route: outcome.route,
    status: outcome.error?.status ?? exchange.response.statusCode,
    code: outcome.error?.code ?? null,
    root: exchange.root,
    path: exchange.target,
  };
}
