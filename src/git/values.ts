import { type BeneathPath, parseBeneathPath } from '../capability/beneath-path.ts';

declare const objectBrand: unique symbol;
declare const commitBrand: unique symbol;
declare const branchBrand: unique symbol;
declare const refBrand: unique symbol;
declare const remoteBrand: unique symbol;
declare const pathBrand: unique symbol;
declare const messageBrand: unique symbol;

/** A full object name: 40 (SHA-1) or 64 (SHA-256) lower-case hex digits. Made only by the parsers below. */
export type ObjectOid = string & { readonly [objectBrand]: true };

/** The full object name of what is meant to be a commit; whether it is one, only the repository can say. */
export type CommitOid = ObjectOid & { readonly [commitBrand]: true };

/** A short branch name from a caller, restricted beyond what Git allows. Made only by `parseBranchName`. */
export type BranchName = string & { readonly [branchBrand]: true };

/** A full name below `refs/`, well formed, that no command can take for an option. */
export type RefName = string & { readonly [refBrand]: true };

/** The name of a remote in one component. Never a URL: a transport cannot be named with it. Made only by `parseRemoteName`. */
export type RemoteName = string & { readonly [remoteBrand]: true };

/**
 * A path below the work tree that Git takes letter by letter: the command tables put it after `--` and run Git with
 * `--literal-pathspecs`, so that neither `:(top)`, `:!` nor `*` means anything. Made only by `parseLiteralPath`.
 */
export type LiteralPath = BeneathPath & { readonly [pathBrand]: true };

/** A commit message; it reaches Git on standard input only. Made only by `parseCommitMessage`. */
export type CommitMessage = string & { readonly [messageBrand]: true };

/** Longer names do not fit a loose ref's file name on common file systems. */
const maxBranchBytes = 255;

const maxMessageBytes = 1024 * 1024;

/** Null for anything but a full object name; abbreviations and expressions are never accepted (R20). Upper case is lowered. */
export function parseCommitOid(text: string): CommitOid | null {
  return /^(?:[0-9a-fA-F]{40}|[0-9a-fA-F]{64})$/.test(text) ? (text.toLowerCase() as CommitOid) : null;
}

/**
 * Null unless the text is a branch name that every command and file system takes literally (R20): Git's own rules
 * (git-check-ref-format(1)), no leading `-`, no `]`, no white space of any script, at most 255 bytes.
 */
export function parseBranchName(text: string): BranchName | null {
  if (text === '@' || text.startsWith('-') || /[\]\s]/u.test(text)) return null;
  if (!text.isWellFormed() || Buffer.byteLength(text) > maxBranchBytes) return null;
  return isFullRefName(`refs/heads/${text}`) ? (text as BranchName) : null;
}

/** Null unless the text is a well-formed full name in whole UTF-8; short names and revision syntax are never accepted (R20). */
export function parseRefName(text: string): RefName | null {
  return text.isWellFormed() && isFullRefName(text) ? (text as RefName) : null;
}

/**
 * Null unless the text can name a remote and nothing else: one component of a ref, so no `/`, `:` or white space, and no leading `-`.
 * `.` is not a name, since Git takes it for this repository.
 */
export function parseRemoteName(text: string): RemoteName | null {
  if (text.includes('/') || parseBranchName(text) === null) return null;
  return text as RemoteName;
}

/**
 * The same rules as for files (R10), so that what one route can name the other can.
 * @throws `invalid_path` | `path_outside_workspace`
 */
export function parseLiteralPath(text: string): LiteralPath {
  return parseBeneathPath(text) as LiteralPath;
}

/** Null for a message that Git would refuse or shorten: nothing but white space, a NUL, a lone surrogate, or over 1 MiB. */
export function parseCommitMessage(text: string): CommitMessage | null {
  if (text.trim() === '' || text.includes('\0') || !text.isWellFormed()) return null;
  return Buffer.byteLength(text) <= maxMessageBytes ? (text as CommitMessage) : null;
}

/**
 * Whether the text is a well-formed name below `refs/` (git-check-ref-format(1)). Bytes of other scripts may be given as
 * Latin-1 characters: no rule looks at them.
 */
export function isFullRefName(text: string): boolean {
  if (!text.startsWith('refs/') || text.endsWith('.') || text.includes('@{')) return false;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters Git refuses in a ref.
  if (/[\x00-\x20\x7f~^:?*[\\]/.test(text)) return false;
  return text.split('/').every(isRefComponent);
}

function isRefComponent(component: string): boolean {
  return (
    component !== '' &&
    !component.startsWith('.') &&
    !component.includes('..') &&
    !component.endsWith('.lock')
  );
}
