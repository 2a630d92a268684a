import { hash } from 'node:crypto';
import { isExecutable, modifiedMsOf } from '../capability/file-facts.ts';
import type { FileReading, FileVersion } from './workspace-files.ts';

/** `digest` is the SHA-256 in base64url. */
export function etagOfDigest(digest: string): string {
  return `"sha256-${digest}"`;
}

export function versionOf(bytes: Uint8Array): FileVersion {
  const { sha1, etag } = new ContentHashes(bytes);
  return { sha1, etag, size: bytes.length };
}

/** Both hashes of one content, each made when it is first asked for, as most callers need one or none. */
export class ContentHashes {
  readonly bytes: Uint8Array;
  #sha1: string | undefined;
  #etag: string | undefined;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  get sha1(): string {
    this.#sha1 ??= hash('sha1', this.bytes, 'hex');
    return this.#sha1;
  }

  get etag(): string {
    this.#etag ??= etagOfDigest(hash('sha256', this.bytes, 'base64url'));
    return this.#etag;
  }
}

/** Finds or makes the hashes of a content. */
export type HashSource = (bytes: Uint8Array) => ContentHashes;

/**
 * What a read gives. The hashes are those of `bytes` when one of them is first asked for: whoever changes the array before that
 * gets those of the changed content.
 */
export class ContentReading implements FileReading {
  readonly bytes: Uint8Array;
  readonly size: number;
  readonly modifiedMs: number;
  readonly executable: boolean;
  readonly #source: HashSource;
  #hashes: ContentHashes | undefined;

  constructor(bytes: Uint8Array, facts: BigInt64Array, source: HashSource = hashAnew) {
    this.bytes = bytes;
    this.size = bytes.length;
    this.modifiedMs = modifiedMsOf(facts);
    this.executable = isExecutable(facts);
    this.#source = source;
  }

  get sha1(): string {
    return this.#known().sha1;
  }

  get etag(): string {
    return this.#known().etag;
  }

  #known(): ContentHashes {
    this.#hashes ??= this.#source(this.bytes);
    return this.#hashes;
  }
}

function hashAnew(bytes: Uint8Array): ContentHashes {
  return new ContentHashes(bytes);
}
