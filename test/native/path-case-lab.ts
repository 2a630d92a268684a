import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { mount, mountTmpfs, unmount } from '../support/mounts.ts';
import { bytesOf, type PathCase, type SetUp } from './path-case.ts';

/** What every file holds that a row gives no content. */
export const insideContent = 'inside';
export const outsideContent = 'outside';

const needRoot = new Set(['tmpfs', 'bind', 'proc', 'chardev']);

/** Whether the row can be set up by this process. */
export function isPossible(row: PathCase, isRoot: boolean): boolean {
  return isRoot || (row.asUid === undefined && !row.setup.some(({ op }) => needRoot.has(op)));
}

/** The root of one row, with something outside beside it. */
export class PathCaseLab {
  readonly top: string = realpathSync(mkdtempSync(join(tmpdir(), 'wa-path-')));
  readonly root: string = join(this.top, 'ROOT');

  constructor() {
    // Other users take part in some rows.
    chmodSync(this.top, 0o755);
    mkdirSync(this.root);
    mkdirSync(join(this.top, 'outside'));
    writeFileSync(join(this.top, 'outside/t'), outsideContent);
    onTestFinished(() => rmSync(this.top, { recursive: true, force: true }));
  }

  /** `$ROOT` is the absolute path of the root. */
  text(text: string): string {
    return text.replace('$ROOT', this.root);
  }

  /** Everything that has to stand before the root is opened. */
  async setUp(row: PathCase): Promise<void> {
    for (const step of row.setup) await this.#perform(step);
  }

  /** What happens to the root while it is held. */
  disturb(row: PathCase): void {
    for (const { op } of row.setup) {
      if (op === 'mvroot') renameSync(this.root, join(this.top, 'moved'));
      if (op === 'rmroot') {
        unlinkSync(join(this.root, 't'));
        rmdirSync(this.root);
      }
    }
  }

  async #perform({ op, path, target = insideContent }: SetUp): Promise<void> {
    const place = join(this.root, path);
    const steps: Readonly<Record<string, () => void | Promise<void>>> = {
      dir: () => void mkdirSync(place, { recursive: true }),
      file: () => writeFileSync(place, target),
      'file-bytes': () => writeFileSync(Buffer.concat([Buffer.from(`${this.root}/`), bytesOf(path)]), target),
      symlink: () => symlinkSync(this.text(target), place),
      hardlink: () => linkSync(join(this.root, target), place),
      'hardlink-out': () => linkSync(join(this.top, 'outside/t'), place),
      chmod: () => chmodSync(place, Number.parseInt(target, 8)),
      fifo: () => void execFileSync('mkfifo', [place]),
      socket: () =>
        void execFileSync('python3', [
          '-c',
          'import socket,sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])',
          place,
        ]),
      chardev: () => void execFileSync('mknod', [place, 'c', '1', '3']),
      tmpfs: () => mountTmpfs(place),
      bind: () => bindOver(join(this.root, target), place),
      proc: () => mount(place, '-t', 'proc', 'proc'),
      // After the root is opened: see `disturb`.
      rmroot: () => undefined,
      mvroot: () => undefined,
    };
    const step = steps[op];
    if (step === undefined) throw new Error(`no such step: ${op}`);
    await step();
  }
}

/** Over a directory or a file that is there. */
function bindOver(source: string, target: string): void {
  execFileSync('mount', ['--bind', source, target]);
  onTestFinished(() => unmount(target).catch(() => undefined));
}
