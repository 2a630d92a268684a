import { accessCodes } from './codes/access-codes.ts';
import { actionCodes } from './codes/action-codes.ts';
import { archiveCodes } from './codes/archive-codes.ts';
import { creationCodes } from './codes/creation-codes.ts';
import { fileCodes } from './codes/file-codes.ts';
import { forgeCodes } from './codes/forge-codes.ts';
import { gitCodes } from './codes/git-codes.ts';
import { requestCodes } from './codes/request-codes.ts';
import { serviceCodes } from './codes/service-codes.ts';
import { sessionCodes } from './codes/session-codes.ts';
import { worktreeCodes } from './codes/worktree-codes.ts';

/**
 * The closed table of everything this package refuses or fails with. A code is never renamed and never gets a synonym;
 * later rooms add rows. `title` is the constant sentence shown to people (RFC 9457 `title` and our `message`); facts go to
 * `details`. `legacy` is the literal that existing clients compare in the `error` field; without one it equals the code.
 * `retryable` means: the same request may succeed later without anybody changing it.
 */
export interface CodeRow {
  readonly kind: ErrorKind;
  readonly status: number;
  readonly title: string;
  readonly retryable?: true;
  readonly legacy?: string;
}

export type ErrorKind =
  | 'invalid'
  | 'denied'
  | 'missing'
  | 'conflict'
  | 'unsupported'
  | 'unavailable'
  | 'internal';

/** The families of codes, joined. That no code is in two of them is held by a test. */
export const errorCodes: typeof requestCodes &
  typeof accessCodes &
  typeof fileCodes &
  typeof gitCodes &
  typeof forgeCodes &
  typeof actionCodes &
  typeof archiveCodes &
  typeof creationCodes &
  typeof sessionCodes &
  typeof worktreeCodes &
  typeof serviceCodes = {
  ...requestCodes,
  ...accessCodes,
  ...fileCodes,
  ...gitCodes,
  ...forgeCodes,
  ...actionCodes,
  ...archiveCodes,
  ...creationCodes,
  ...sessionCodes,
  ...worktreeCodes,
  ...serviceCodes,
};

/** Does not compile when a row has another shape. */
errorCodes satisfies Readonly<Record<string, CodeRow>>;

export type ErrorCode = keyof typeof errorCodes;
