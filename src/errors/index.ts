export {
  AuthorityError,
  type AuthorityErrorOptions,
  type ErrorDetails,
  isAuthorityError,
} from './authority-error.ts';
export { type CodeRow, type ErrorCode, type ErrorKind, errorCodes } from './codes.ts';
export { endsAuthority } from './ends-authority.ts';
