declare const oidBrand: unique symbol;
declare const branchBrand: unique symbol;

/** A full object name: 40 (SHA-1) or 64 (SHA-256) lower-case hex digits. Made only by `parseCommitOid`. */
export type CommitOid = string & { readonly [oidBrand]: true };

/** A short branch name from a caller, restricted beyond what Git allows. Made only by `parseBranchName`. */
export type BranchName = string & { readonly [branchBrand]: true };

/** Longer names do not fit a loose ref's file name on common file systems. */
const maxBranchBytes = 255;

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
