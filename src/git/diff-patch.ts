import {
  changeNames,
  type DiffBudget,
  type DiffFile,
  type DiffHunk,
  type DiffLine,
  decodeLine,
  isAsciiName,
  nameFields,
} from './diff-file.ts';
import type { RawRecord } from './diff-raw.ts';

const newline = 0x0a;
const marks = { space: 0x20, plus: 0x2b, minus: 0x2d, backslash: 0x5c };

const hunkHeader = /^@@ -([0-9]+)(?:,([0-9]+))? \+([0-9]+)(?:,([0-9]+))? @@(?: (.*))?$/s;

/** What Git writes between the `diff --git` line of a file and its hunks; nothing is taken from it. */
const extendedHeader =
  /^(?:old mode|new mode|deleted file mode|new file mode|similarity index|dissimilarity index|rename from|rename to|copy from|copy to|index|---|\+\+\+) /;

/** Thrown for a patch that has another form than Git's; never answered in part. */
export class MalformedPatch extends Error {}

interface OpenHunk extends DiffHunk {
  readonly lines: DiffLine[];
}

/** A file while its patch is read. */
interface OpenFile {
  readonly record: RawRecord;
  readonly hunks: OpenHunk[];
  sections: number;
  patchBytes: number;
  additions: number;
  deletions: number;
  binary: boolean;
  undecodable: boolean;
  /** Whether what was read so far can be shown. */
  kept: boolean;
}

/**
 * Reads a patch as it comes, in memory bounded by the budget and one line. Which files there are and how they are called is known from the
 * records; a patch only adds lines, in the order of the records. How long a hunk is, its header says: a deleted `-- ` or an added `++ ` is
 * a line like any other (W28), and nothing follows the last line (W29).
 */
export class PatchReader {
  readonly #files: OpenFile[];
  readonly #budget: DiffBudget;
  /** Index of the file whose section is read; -1 before the first. */
  #current = -1;
  #hunk: OpenHunk | null = null;
  #oldLeft = 0;
  #newLeft = 0;
  /** Whether `\ No newline` may come: a line of a hunk was just read. */
  #afterLine = false;
  #carried: Buffer[] = [];
  /** Bytes of the line that is not whole yet. */
  #carriedBytes = 0;

  constructor(records: readonly RawRecord[], budget: DiffBudget) {
    this.#budget = budget;
    this.#files = records.map((record) => ({
      record,
      hunks: [],
      sections: 0,
      patchBytes: 0,
      additions: 0,
      deletions: 0,
      binary: false,
      undecodable: false,
      kept: true,
    }));
  }

  /** @throws MalformedPatch */
  push(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
      if (this.#carriedBytes === 0) this.#line(chunk, start, end, end - start);
      else this.#carriedLine(chunk.subarray(start, end));
      start = end + 1;
    }
    if (start < chunk.length) this.#carry(chunk.subarray(start));
  }

  /** @throws MalformedPatch when it ends in the middle, or a file has no patch that must have one */
  finish(): DiffFile[] {
    if (this.#carriedBytes > 0 || this.#oldLeft > 0 || this.#newLeft > 0)
      throw new MalformedPatch('unfinished');
    this.#close();
    return this.#files.flatMap((file) => (this.#isShown(file) ? [finished(file)] : []));
  }

  /** Of a line that cannot be shown anyway only the mark is kept. */
  #carry(piece: Buffer): void {
    const whole = this.#carriedBytes + piece.length;
    if (whole <= this.#budget.fileBytes) this.#carried.push(Buffer.from(piece));
    else if (this.#carriedBytes === 0) this.#carried.push(Buffer.from(piece.subarray(0, 1)));
    this.#carriedBytes = whole;
  }

  #carriedLine(end: Buffer): void {
    const length = this.#carriedBytes + end.length;
    const line = Buffer.concat([...this.#carried, end]);
    this.#carried = [];
    this.#carriedBytes = 0;
    this.#line(line, 0, line.length, length);
  }

  /** `length` is what the line had, `start` to `end` what is left of it. */
  #line(bytes: Buffer, start: number, end: number, length: number): void {
    const file = this.#files[this.#current];
    if (file !== undefined) file.patchBytes += length + 1;
    if (bytes[start] === marks.backslash && this.#afterLine) {
      this.#afterLine = false;
      this.#keepLine('meta', bytes, start, end);
    } else if (this.#oldLeft > 0 || this.#newLeft > 0) this.#hunkLine(bytes, start, end);
    else this.#headerLine(bytes.toString('latin1', start, end));
  }

  #hunkLine(bytes: Buffer, start: number, end: number): void {
    const mark = bytes[start];
    const file = this.#file();
    this.#afterLine = true;
    if (mark === marks.plus) {
      this.#newLeft -= 1;
      file.additions += 1;
      this.#keepLine('add', bytes, start + 1, end);
    } else if (mark === marks.minus) {
      this.#oldLeft -= 1;
      file.deletions += 1;
      this.#keepLine('del', bytes, start + 1, end);
    } else if (mark === marks.space) {
      this.#oldLeft -= 1;
      this.#newLeft -= 1;
      this.#keepLine('ctx', bytes, start + 1, end);
    } else throw new MalformedPatch('mark of a line');
    if (this.#oldLeft < 0 || this.#newLeft < 0) throw new MalformedPatch('length of a hunk');
  }

  #keepLine(type: DiffLine['type'], bytes: Buffer, start: number, end: number): void {
    const file = this.#file();
    if (!this.#keeps(file)) return;
    const line = decodeLine(type, bytes, start, end);
    if (line.base64 !== undefined) file.undecodable = true;
    this.#hunk?.lines.push(line);
  }

  /** Lets go of what was read of a file as soon as it cannot be shown. */
  #keeps(file: OpenFile): boolean {
    if (file.kept && !this.#budget.fits(file.patchBytes)) {
      file.kept = false;
      file.hunks.length = 0;
      this.#hunk = null;
    }
    return file.kept;
  }

  #headerLine(line: string): void {
    this.#afterLine = false;
    if (line.startsWith('diff --git ')) this.#section(line);
    else if (!line.startsWith('* Unmerged path ')) this.#inSection(this.#file(), line);
  }

  #inSection(file: OpenFile, line: string): void {
    const hunk = line.startsWith('@@') ? hunkHeader.exec(line) : null;
    if (hunk !== null) this.#begin(file, hunk);
    else if (extendedHeader.test(line)) return;
    else if (/^Binary files .* differ$/s.test(line)) file.binary = true;
    else throw new MalformedPatch('line between hunks');
  }

  #begin(file: OpenFile, [, oldStart, oldCount, newStart, newCount, words]: RegExpExecArray): void {
    this.#oldLeft = Number(oldCount ?? 1);
    this.#newLeft = Number(newCount ?? 1);
    this.#hunk = {
      oldStart: Number(oldStart),
      oldCount: this.#oldLeft,
      newStart: Number(newStart),
      newCount: this.#newLeft,
      header: words === undefined ? '' : Buffer.from(words, 'latin1').toString('utf8').trim(),
      lines: [],
    };
    if (this.#keeps(file)) file.hunks.push(this.#hunk);
  }

  /** Finds the record that a section belongs to: the next one whose names make exactly this line. */
  #section(line: string): void {
    const again = this.#files[this.#current];
    // A change of type is written as a deletion and a creation.
    const belongsTo = (file: OpenFile | undefined) => file !== undefined && sectionLine(file.record) === line;
    if (again?.record.status === 'T' && again.sections === 1 && belongsTo(again)) {
      again.sections = 2;
      again.patchBytes += line.length + 1;
      return;
    }
    this.#close();
    let next = this.#current + 1;
    while (next < this.#files.length && !belongsTo(this.#files[next])) next += 1;
    const file = this.#files[next];
    if (file === undefined) throw new MalformedPatch('section of no record');
    this.#current = next;
    file.sections = 1;
    file.patchBytes = line.length + 1;
  }

  #close(): void {
    const file = this.#files[this.#current];
    this.#hunk = null;
    if (file === undefined || file.binary) return;
    if (!this.#budget.spend(file.patchBytes)) {
      file.kept = false;
      file.hunks.length = 0;
    }
  }

  #file(): OpenFile {
    const file = this.#files[this.#current];
    if (file === undefined) throw new MalformedPatch('line before the first file');
    return file;
  }

  /**
   * A file whose time changed but not its content, or that differs in white space only when that is ignored, has a record without a
   * patch: it is not different. An unmerged one has a second record when it is in the work tree.
   */
  #isShown({ record, sections }: OpenFile): boolean {
    if (sections > 0) return true;
    if (record.status === 'U') {
      return !this.#files.some((other) => other.record.path === record.path && other.record.status !== 'U');
    }
    if (record.status !== 'M' || record.oldMode !== record.newMode)
      throw new MalformedPatch('record without a section');
    return false;
  }
}

function finished(file: OpenFile): DiffFile {
  const { record, additions, deletions, hunks, binary, kept } = file;
  const change = changeNames[record.status];
  const cut = kept ? change : 'too_large';
  // Written out: to copy fields from object to object is what costs most in a diff of many files.
  const shown: { -readonly [Field in keyof DiffFile]: DiffFile[Field] } = {
    path: record.path,
    oldPath: record.oldPath,
    status: binary ? 'binary' : cut,
    change,
    additions,
    deletions,
    hunks: binary ? [] : hunks,
    oldMode: record.oldMode,
    newMode: record.newMode,
  };
  if (file.undecodable) shown.undecodable = true;
  if (isAsciiName(record.path) && (record.oldPath === null || isAsciiName(record.oldPath))) return shown;
  const names = nameFields(record.path, record.oldPath);
  const undecodable = names.pathBase64 !== undefined || names.oldPathBase64 !== undefined;
  return { ...shown, ...names, ...(undecodable ? { undecodable: true } : {}) };
}

/** The first line of a file's section, as Git writes it when core.quotePath is off (quote.c, `quote_two_c_style`). */
function sectionLine({ status, path, oldPath }: RawRecord): string | null {
  return status === 'U' ? null : `diff --git ${quoted(`a/${oldPath ?? path}`)} ${quoted(`b/${path}`)}`;
}

const letters: Readonly<Record<string, string>> = {
  '\x07': 'a',
  '\b': 'b',
  '\t': 't',
  '\n': 'n',
  '\v': 'v',
  '\f': 'f',
  '\r': 'r',
  '"': '"',
  '\\': '\\',
};

function quoted(name: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the bytes Git quotes.
  const special = /[\x00-\x1f"\\\x7f]/g;
  if (name.search(special) === -1) return name;
  const escaped = (byte: string) => `\\${letters[byte] ?? byte.charCodeAt(0).toString(8).padStart(3, '0')}`;
  return `"${name.replace(special, escaped)}"`;
}
