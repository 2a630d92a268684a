import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type {
  DirectoryHandle,
  PathGuard,
  RemoveRequest,
  ReplaceOutcome,
  ReplaceRequest,
} from '../../src/native/binding.ts';
import { testBinding } from '../support/test-binding.ts';

/** A directory of its own, held by the addon. */
export class WriteRoom {
  readonly path: string;
  readonly root: DirectoryHandle;
  /** Descriptors held by the addon before the room was opened. */
  readonly #handlesBefore: number;

  private constructor(path: string, root: DirectoryHandle, handlesBefore: number) {
    this.path = path;
    this.root = root;
    this.#handlesBefore = handlesBefore;
  }

  static async open(path?: string): Promise<WriteRoom> {
    const directory = path ?? realpathSync(mkdtempSync(join(tmpdir(), 'wa-write-')));
    const before = testBinding.openHandles();
    return new WriteRoom(directory, await testBinding.openRoot(directory, {}), before);
  }

  /** A guard with the shape of a Git directory. */
  guard(): PathGuard {
    return testBinding.createGuard(this.root, {
      closedShape: ['HEAD', 'objects', 'refs'],
      closedIdentities: [],
    });
  }

  at(...names: readonly string[]): string {
    return join(this.path, ...names);
  }

  text(name: string): string {
    return readFileSync(this.at(name), 'utf8');
  }

  /** Names in the room that belong to transactions. */
  leftovers(directory = '.'): string[] {
    return readdirSync(this.at(directory)).filter((name) => name.startsWith('.wa-'));
  }

  replace(path: string, text: string, base: BaseVersion = versionOf(this.at(path))): Promise<ReplaceOutcome> {
    return this.root.replace(path, replaceRequest(text, base), null);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.root.close();
    rmSync(this.path, { recursive: true, force: true });
    if (testBinding.openHandles() !== this.#handlesBefore)
      throw new Error('the addon still holds descriptors');
  }
}

export interface BaseVersion {
  readonly baseBytes: Uint8Array;
  readonly baseInode: bigint;
  readonly baseDevice: bigint;
}

/** What a caller that has just read the file knows of it. */
export function versionOf(path: string): BaseVersion {
  const { ino, dev } = statSync(path, { bigint: true });
  return { baseBytes: readFileSync(path), baseInode: ino, baseDevice: dev };
}

let serial = 0;

export function temporaryName(): string {
  return `.wa-${process.pid}-${serial++}.tmp`;
}

export function replaceRequest(text: string, base: BaseVersion): ReplaceRequest {
  return { bytes: Buffer.from(text), ...base, temporaryName: temporaryName() };
}

export function removeRequest(base: BaseVersion): RemoveRequest {
  return { ...base, temporaryName: temporaryName() };
}

/** The descriptors of this process, but those that reading them needs. */
export function openDescriptors(): number {
  return readdirSync('/proc/self/fd').length;
}

/** What a rejected call said: the code and syscall, and what a write transaction adds. */
export async function failureOf(call: Promise<unknown>): Promise<Record<string, unknown>> {
  try {
    await call;
  } catch (error) {
    const { code, syscall, errno, inPlace, kept } = error as Record<string, unknown>;
    return { code, syscall, errno, inPlace, kept };
  }
  throw new Error('the call was expected to fail');
}
