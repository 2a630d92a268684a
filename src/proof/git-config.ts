/** One setting of a Git configuration file. All text is Latin-1, one character a byte. */
export interface ConfigEntry {
  /** Lower case. */
  readonly section: string;
  /** As written, after unescaping; null in `[section]`. The old form `[section.sub]` leaves the dot in `section`. */
  readonly subsection: string | null;
  /** Lower case. */
  readonly key: string;
  /** Null for a key without `=`, which Git reads as true. */
  readonly value: string | null;
}

/** Why the text was refused. */
export class ConfigSyntaxError extends Error {
  readonly line: number;

  constructor(line: number) {
    super('the configuration is not written in the strict grammar');
    this.line = line;
  }
}

/**
 * Reads the text of a Git configuration file (git-config(1), "Syntax") by a grammar that is a subset of what Git and libgit2 both
 * read, and read alike. What the two could understand differently is refused: NUL and control bytes, a lone carriage return, a
 * setting before any section, an unfinished line.
 * @throws ConfigSyntaxError
 */
export function parseGitConfig(bytes: Uint8Array): ConfigEntry[] {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    .toString('latin1')
    .replace(/^\xef\xbb\xbf/, '')
    .replaceAll('\r\n', '\n');
  return new ConfigReader(text).read();
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control bytes are what is looked for.
const forbidden = /[\x00-\x08\x0b-\x1f\x7f]/;

class ConfigReader {
  readonly #text: string;
  #at = 0;
  #section: { readonly name: string; readonly subsection: string | null } | null = null;

  constructor(text: string) {
    this.#text = text;
    const control = forbidden.exec(text);
    if (control !== null) throw this.#refuse(control.index);
  }

  read(): ConfigEntry[] {
    const entries: ConfigEntry[] = [];
    for (;;) {
      this.#take(/[ \t\n]*/y);
      if (this.#at === this.#text.length) return entries;
      if (this.#take(/[#;][^\n]*/y) !== null) continue;
      if (this.#peek() === '[') this.#section = this.#readSection();
      else entries.push(this.#readEntry());
    }
  }

  #readSection(): { readonly name: string; readonly subsection: string | null } {
    const header = this.#take(/\[([A-Za-z0-9.-]+)(?:[ \t]+"((?:[^"\\\n]|\\[^\n])*)")?\]/y);
    if (header === null) throw this.#refuse(this.#at);
    return {
      name: (header[1] as string).toLowerCase(),
      subsection: header[2]?.replace(/\\(.)/g, '$1') ?? null,
    };
  }

  #readEntry(): ConfigEntry {
    const key = this.#take(/([A-Za-z][A-Za-z0-9-]*)[ \t]*/y);
    if (key === null || this.#section === null) throw this.#refuse(this.#at);
    const start = { section: this.#section.name, subsection: this.#section.subsection };
    const name = (key[1] as string).toLowerCase();
    if (this.#take(/\n/y) !== null || this.#at === this.#text.length)
      return { ...start, key: name, value: null };
    if (this.#take(/=/y) === null) throw this.#refuse(this.#at);
    return { ...start, key: name, value: this.#readValue() };
  }

  /** White space outside quotes counts only between words, and is kept there; a quote may open and close anywhere. */
  #readValue(): string {
    let value = '';
    let pendingSpace = '';
    let quoted = false;
    for (;;) {
      const space = quoted ? null : this.#take(/[ \t]+/y);
      if (space !== null) {
        if (value !== '') pendingSpace += space[0];
        continue;
      }
      const character = this.#peek();
      if (character === '\n' || character === '') {
        if (quoted) throw this.#refuse(this.#at);
        this.#at += character.length;
        return value;
      }
      if (!quoted && (character === '#' || character === ';')) {
        this.#take(/[^\n]*/y);
        continue;
      }
      value += pendingSpace;
      pendingSpace = '';
      this.#at += 1;
      if (character === '"') quoted = !quoted;
      else if (character === '\\') value += this.#readEscape();
      else value += character;
    }
  }

  #readEscape(): string {
    const escaped = this.#peek();
    const meaning = escapes[escaped];
    if (meaning === undefined) throw this.#refuse(this.#at);
    this.#at += 1;
    return meaning;
  }

  #peek(): string {
    return this.#text.charAt(this.#at);
  }

  /** What the sticky expression matches here, which may be nothing at all; it is stepped over. */
  #take(expression: RegExp): RegExpExecArray | null {
    expression.lastIndex = this.#at;
    const match = expression.exec(this.#text);
    if (match !== null) this.#at = expression.lastIndex;
    return match;
  }

  #refuse(at: number): ConfigSyntaxError {
    return new ConfigSyntaxError(this.#text.slice(0, at).split('\n').length);
  }
}

/** A backslash before a line's end continues the value on the next line. */
const escapes: Readonly<Record<string, string>> = {
  '\n': '',
  n: '\n',
  t: '\t',
  b: '\b',
  '"': '"',
  '\\': '\\',
};
