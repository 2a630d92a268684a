import { constants } from 'node:fs';
import { type FileHandle, open, rename, stat } from 'node:fs/promises';

export interface StateLogOptions {
  /** Path of the held directory (`/proc/<pid>/fd/<n>`) and name of the file in it. */
  readonly directory: string;
  readonly name: string;
  /** Bytes after which the file becomes `<name>.1`, in place of an earlier one. */
  readonly rotateBytes?: number;
  /** Told the first failure of each row of failures: a log that cannot be written must not stop what it logs. */
  readonly onFailure: (error: unknown) => void;
}

const defaultRotateBytes = 16 * 1024 * 1024;
/** Characters that may wait while the disk is slow; what comes beyond is lost and counted. */
const longestBacklog = 4 * 1024 * 1024;

/**
 * Appends lines to a file of the state directory, mode 0600. Lines are written in their order, several at a time, and not synced:
 * the last ones may be lost with the machine, not with the process. Several processes may append to one file (O_APPEND).
 */
export class StateLog {
  readonly #path: string;
  readonly #rotateBytes: number;
  readonly #onFailure: (error: unknown) => void;
  #file: FileHandle | null = null;
  #backlog: string[] = [];
  #backlogLength = 0;
  #lost = 0;
  #writing: Promise<void> | null = null;
  #failing = false;

  constructor({ directory, name, rotateBytes = defaultRotateBytes, onFailure }: StateLogOptions) {
    this.#path = `${directory}/${name}`;
    this.#rotateBytes = rotateBytes;
    this.#onFailure = onFailure;
  }

  /** Never throws and never waits. `line` holds no line end. */
  append(line: string): void {
    if (this.#backlogLength + line.length > longestBacklog) {
      this.#lost += 1;
      return;
    }
    this.#backlog.push(line);
    this.#backlogLength += line.length;
    this.#writing ??= this.#write();
  }

  /** Resolves when everything appended so far is written or given up. */
  async flush(): Promise<void> {
    while (this.#writing !== null) await this.#writing;
  }

  async close(): Promise<void> {
    await this.flush();
    await this.#file?.close();
    this.#file = null;
  }

  async #write(): Promise<void> {
    while (this.#backlog.length > 0) {
      const lines = this.#backlog;
      if (this.#lost > 0) lines.unshift(JSON.stringify({ lost: this.#lost }));
      this.#backlog = [];
      this.#backlogLength = 0;
      this.#lost = 0;
      try {
        const file = await this.#current();
        await file.appendFile(`${lines.join('\n')}\n`);
        this.#failing = false;
      } catch (error) {
        this.#lost += lines.length;
        if (!this.#failing) this.#onFailure(error);
        this.#failing = true;
      }
    }
    // In the same step as the last look at the backlog, so that no line is left behind.
    this.#writing = null;
  }

  /** The file to append to: opened anew when another process has rotated it, rotated when it is full. */
  async #current(): Promise<FileHandle> {
    const held = await this.#file?.stat({ bigint: true });
    if (this.#file !== null && held !== undefined) {
      const named = await stat(this.#path, { bigint: true }).catch(() => null);
      const inPlace = named?.ino === held.ino && named.dev === held.dev;
      if (inPlace && held.size < this.#rotateBytes) return this.#file;
      if (inPlace) await rename(this.#path, `${this.#path}.1`);
      await this.#file.close();
      this.#file = null;
    }
    this.#file = await openLog(this.#path);
    return this.#file;
  }
}

async function openLog(path: string): Promise<FileHandle> {
  // Without O_NONBLOCK a FIFO put there would hold a thread for ever.
  const flags =
    constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const file = await open(path, flags, 0o600);
  const { uid, mode } = await file.stat();
  if (
    (mode & constants.S_IFMT) === constants.S_IFREG &&
    uid === process.geteuid?.() &&
    (mode & 0o022) === 0
  ) {
    return file;
  }
  await file.close();
  throw new Error('the log is not a regular file of this user alone');
}
