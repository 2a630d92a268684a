import { isUtf8 } from 'node:buffer';
import type { RawStatus } from './diff-raw.ts';

/** What happened to a file. */
export type DiffChange = 'modified' | 'added' | 'deleted' | 'renamed' | 'copied' | 'type-changed';

/** The same where its lines are shown; else why they are not. */
export type DiffStatus = DiffChange | 'binary' | 'too_large';

/** One line of a hunk, without its mark and its newline; a carriage return before the newline is content. */
export interface DiffLine {
  /** `meta`: says that the line before it has no newline; its content is Git's sentence. */
  readonly type: 'add' | 'del' | 'ctx' | 'meta';
  /** U+FFFD stands for what is not UTF-8. */
  readonly content: string;
  /** The exact bytes, only where they are not UTF-8. */
  readonly base64?: string;
}

export interface DiffHunk {
  readonly oldStart: number;
  readonly oldCount: number;
  readonly newStart: number;
  readonly newCount: number;
  /** What Git says the hunk is in, shortened by Git; empty when it says nothing. */
  readonly header: string;
  readonly lines: readonly DiffLine[];
}

export interface DiffFile {
  /** U+FFFD stands for what is not UTF-8. */
  readonly path: string;
  /** Where a renamed or copied file was. */
  readonly oldPath: string | null;
  readonly status: DiffStatus;
  readonly change: DiffChange;
  /** Lines, counted also where they are not shown; 0 of binary files. */
  readonly additions: number;
  readonly deletions: number;
  /** Empty where `status` is `binary` or `too_large`. */
  readonly hunks: readonly DiffHunk[];
  /** Mode in Git's octal digits, e.g. 100644, 120000 for a symbolic link, 160000 for a submodule; null where this side has no file. */
  readonly oldMode: string | null;
  readonly newMode: string | null;
  readonly untracked?: true;
  /** Its content could not be read; the lines are missing. */
  readonly unreadable?: true;
  /** A name or a line is not UTF-8. */
  readonly undecodable?: true;
  /** The exact bytes of the names, only where they are not UTF-8. */
  readonly pathBase64?: string;
  readonly oldPathBase64?: string;
}

export const changeNames: Readonly<Record<RawStatus, DiffChange>> = {
  A: 'added',
  C: 'copied',
  D: 'deleted',
  M: 'modified',
  R: 'renamed',
  T: 'type-changed',
  U: 'modified',
};

/** Most of a diff that is shown. Sizes are bytes of the patch. */
export interface DiffLimits {
  readonly fileBytes: number;
  readonly totalBytes: number;
  readonly untrackedFiles: number;
}

export const diffLimits: DiffLimits = {
  fileBytes: 1024 * 1024,
  totalBytes: 2 * 1024 * 1024,
  untrackedFiles: 200,
};

/**
 * What of the whole diff may still be shown. A file that does not fit in what is left shows no hunks and leaves its share to those that
 * come after it, so that one large file does not hide small ones.
 */
export class DiffBudget {
  readonly #limits: DiffLimits;
  #left: number;
  #exceeded = false;

  constructor(limits: DiffLimits) {
    this.#limits = limits;
    this.#left = limits.totalBytes;
  }

  /** Whether a file had to be left out that would have been shown by itself. */
  get exceeded(): boolean {
    return this.#exceeded;
  }

  get fileBytes(): number {
    return this.#limits.fileBytes;
  }

  /** Whether a patch of this size, or that has this size so far, can be shown. */
  fits(bytes: number): boolean {
    return bytes <= this.#limits.fileBytes && bytes <= this.#left;
  }

  /** Told once for each file, with the whole size of its patch. */
  spend(bytes: number): boolean {
    if (bytes > this.#limits.fileBytes) return false;
    if (bytes > this.#left) {
      this.#exceeded = true;
      return false;
    }
    this.#left -= bytes;
    return true;
  }
}

/** Whether the Latin-1 form of a name is the name itself. */
export function isAsciiName(latin1: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: what is not ASCII is looked for.
  return /^[\x00-\x7f]*$/.test(latin1);
}

/** A name for people, and its bytes where it is not UTF-8. */
function decodeName(latin1: string): { readonly text: string; readonly base64: string | null } {
  if (isAsciiName(latin1)) return { text: latin1, base64: null };
  const bytes = Buffer.from(latin1, 'latin1');
  return { text: bytes.toString('utf8'), base64: isUtf8(bytes) ? null : bytes.toString('base64') };
}

/** The names of a file as its fields show them. */
export function nameFields(
  path: string,
  oldPath: string | null,
): Pick<DiffFile, 'path' | 'oldPath' | 'pathBase64' | 'oldPathBase64'> {
  const name = decodeName(path);
  const oldName = oldPath === null ? null : decodeName(oldPath);
  return {
    path: name.text,
    oldPath: oldName?.text ?? null,
    ...(name.base64 === null ? {} : { pathBase64: name.base64 }),
    ...(oldName === null || oldName.base64 === null ? {} : { oldPathBase64: oldName.base64 }),
  };
}

/** Decodes one line; bytes that are not UTF-8 are kept beside the text. */
export function decodeLine(type: DiffLine['type'], bytes: Buffer, start: number, end: number): DiffLine {
  const content = bytes.toString('utf8', start, end);
  // U+FFFD in the text is either content or a sign of bytes that are no UTF-8.
  if (!content.includes('\ufffd') || isUtf8(bytes.subarray(start, end))) return { type, content };
  return { type, content, base64: bytes.toString('base64', start, end) };
}
