import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import {
  type DirectoryHandle,
  fileFacts,
  type GuardRules,
  type NativePath,
  type PathGuard,
  type RootOptions,
} from '../../src/native/binding.ts';
import { testBinding } from '../support/test-binding.ts';

export const gitShape: GuardRules = { closedShape: ['HEAD', 'objects', 'refs'], closedIdentities: [] };

/** A directory of its own, removed after the test. */
export function temporaryDirectory(): string {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'wa-native-')));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** A directory held by the addon, with short words for what the tests of reading do all the time. */
export class Room {
  readonly path: string;
  readonly root: DirectoryHandle;
  readonly facts = new BigInt64Array(fileFacts.count);
  /** Null where a test reads without one. */
  guard: PathGuard | null;

  private constructor(path: string, root: DirectoryHandle, rules: GuardRules | null) {
    this.path = path;
    this.root = root;
    this.guard = rules === null ? null : testBinding.createGuard(root, rules);
  }

  /** Closed after the test, which fails when a descriptor is left. */
  static async open(
    options: { path?: string; rules?: GuardRules | null; root?: RootOptions } = {},
  ): Promise<Room> {
    const path = options.path ?? temporaryDirectory();
    const before = testBinding.openHandles();
    const { rules = gitShape } = options;
    const room = new Room(path, await testBinding.openRoot(path, options.root ?? {}), rules);
    onTestFinished(() => {
      room.guard?.close();
      room.root.close();
      expect(testBinding.openHandles(), 'descriptors left open').toBeLessThanOrEqual(before);
    });
    return room;
  }

  at(...names: readonly string[]): string {
    return join(this.path, ...names);
  }

  /** Writes a file and the directories above it. */
  write(path: string, content: string | Uint8Array = path): void {
    mkdirSync(dirname(this.at(path)), { recursive: true });
    writeFileSync(this.at(path), content);
  }

  /** Makes a directory look like a Git directory. */
  writeGitShape(path: string): void {
    mkdirSync(this.at(path, 'objects'), { recursive: true });
    mkdirSync(this.at(path, 'refs'), { recursive: true });
    writeFileSync(this.at(path, 'HEAD'), 'ref: refs/heads/main\n');
  }

  /** On the pool. */
  async read(path: NativePath, limit = 1 << 20): Promise<string> {
    return Buffer.from(await this.root.read(path, limit, this.facts, this.guard)).toString();
  }

  /** On this thread; undefined where that may not be done. */
  readWarm(path: NativePath, limit = 1 << 20): string | undefined {
    const bytes = this.root.readCached(path, limit, this.facts, this.guard);
    return bytes === undefined ? undefined : Buffer.from(bytes).toString();
  }

  /**
   * Reads until the answer comes without the pool, again and again: a file that changed a moment ago is left to the pool, and what
   * is read again unchanged is kept open.
   */
  async warm(path: NativePath): Promise<string> {
    await expect
      .poll(async () => this.readWarm(path) ?? void (await this.read(path)), { interval: 5, timeout: 10_000 })
      .not.toBeUndefined();
    let content = '';
    for (let time = 0; time < 3; time += 1) {
      const read = this.readWarm(path);
      expect(read, 'not warm').not.toBeUndefined();
      content = read as string;
    }
    return content;
  }

  /** As callers read: here when possible, else on the pool. The code of a refusal instead of an exception. */
  async readOrCode(path: NativePath): Promise<string> {
    try {
      return this.readWarm(path) ?? (await this.read(path));
    } catch (error) {
      return codeOf(error);
    }
  }
}

export function codeOf(error: unknown): string {
  return String((error as { code?: unknown } | null)?.code ?? error);
}
