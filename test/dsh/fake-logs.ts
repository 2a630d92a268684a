import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Session logs on disk as the host keeps them. Facts (host facts 2): `<root>/<project>/<escaped id>/<file>`; the first line is the header with
 * `type: "session"`, then one event a line; `session.jsonl` in 0.1.x (header version 0), `session.v4.jsonl` in 0.2.x, of which the
 * highest generation counts; the project directory is a lossy spelling of the header's cwd, `_no-cwd` without one.
 */
export interface FakeHeader {
  readonly version: number;
  readonly id: string;
  readonly createdAt: number;
  readonly cwd?: string;
  readonly origin?: 'subagent';
  readonly parentSession?: string;
}

export interface FakeEvent {
  readonly type: string;
  readonly data: unknown;
}

export interface StoredLog {
  readonly header: FakeHeader;
  readonly events: readonly FakeEvent[];
  readonly file: string;
}

export class FakeLogs {
  readonly root: string;
  readonly #fileName: string;

  constructor(root: string, fileName: 'session.jsonl' | 'session.v4.jsonl') {
    this.root = root;
    this.#fileName = fileName;
  }

  directoryOf(header: Pick<FakeHeader, 'id' | 'cwd'>): string {
    const project =
      header.cwd === undefined ? '_no-cwd' : `--${header.cwd.replace(/^\/+/, '').replace(/[/\\:]+/g, '-')}--`;
    return join(this.root, project, escapeId(header.id));
  }

  fileOf(header: Pick<FakeHeader, 'id' | 'cwd'>): string {
    return join(this.directoryOf(header), this.#fileName);
  }

  write(header: FakeHeader, events: readonly FakeEvent[]): void {
    mkdirSync(this.directoryOf(header), { recursive: true });
    const lines = [
      { type: 'session', ...header },
      ...events.map((event, seq) => ({ ...event, seq, time: 0 })),
    ];
    writeFileSync(this.fileOf(header), lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  }

  /** Fact: a first line that is no header drops the log from the list without an error; a directory without a log is passed over. */
  list(): readonly { readonly header: FakeHeader; readonly file: string }[] {
    return this.#files().flatMap((file) => {
      const header = parseHeaderLine(readFileSync(file, 'utf8').split('\n', 1)[0] ?? '');
      return header === null ? [] : [{ header, file }];
    });
  }

  read(id: string): StoredLog {
    const found = this.list().find(({ header }) => header.id === id);
    if (found === undefined) throw new Error(`session "${id}" not found`);
    const [, ...lines] = readFileSync(found.file, 'utf8').trimEnd().split('\n');
    return { ...found, events: lines.map((line) => JSON.parse(line) as FakeEvent) };
  }

  #files(): readonly string[] {
    return directoriesIn(this.root).flatMap((project) =>
      directoriesIn(project).flatMap((directory) => {
        const names = readdirSync(directory).filter((name) => name === this.#fileName);
        return names.map((name) => join(directory, name));
      }),
    );
  }
}

/** Fact: every UTF-16 unit but `[A-Za-z0-9._-]` becomes `~` and four hexadecimal digits; `.` and `..` are escaped whole. */
export function escapeId(id: string): string {
  const spell = (text: string): string =>
    Array.from({ length: text.length }, (_, index) => text.charCodeAt(index))
      .map((unit) => `~${unit.toString(16).toUpperCase().padStart(4, '0')}`)
      .join('');
  return id === '.' || id === '..' ? spell(id) : id.replace(/[^A-Za-z0-9._-]/g, spell);
}

/** Fact: an unknown version is listed all the same. */
function parseHeaderLine(line: string): FakeHeader | null {
  try {
    const { type, ...header } = JSON.parse(line) as FakeHeader & { readonly type: unknown };
    return type === 'session' && typeof header.id === 'string' ? header : null;
  } catch {
    return null;
  }
}

function directoriesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => join(directory, name));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
