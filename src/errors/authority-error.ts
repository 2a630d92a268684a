import { type CodeRow, type ErrorCode, errorCodes } from './codes.ts';

/** Facts about a failure: names from the caller's own request, errno and syscall, sizes, versions. Never a foreign path. */
export type ErrorDetails = Readonly<Record<string, unknown>>;

export interface AuthorityErrorOptions {
  readonly details?: ErrorDetails;
  /** The lower error; kept for logs, never sent to a caller. */
  readonly cause?: unknown;
  /** Overrides the row's `legacy` literal where one route of the wire contract names another text for the same code. */
  readonly legacy?: string;
}

const brand = Symbol.for('workspace-authority.error');

/** The only error class this package throws on purpose. Its message is the row's constant title. */
export class AuthorityError extends Error {
  readonly code: ErrorCode;
  readonly details: ErrorDetails;
  readonly legacy: string;

  constructor(code: ErrorCode, options: AuthorityErrorOptions = {}) {
    const row: CodeRow = errorCodes[code];
    super(row.title, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'AuthorityError';
    Object.defineProperty(this, brand, { value: true });
    this.code = code;
    this.details = options.details ?? {};
    this.legacy = options.legacy ?? row.legacy ?? code;
  }

  get status(): number {
    return errorCodes[this.code].status;
  }

  get retryable(): boolean {
    return (errorCodes[this.code] as CodeRow).retryable === true;
  }
}

/** Recognises our errors across copies of this package and across realms. */
export function isAuthorityError(value: unknown): value is AuthorityError {
  return typeof value === 'object' && value !== null && (value as Record<symbol, unknown>)[brand] === true;
}
