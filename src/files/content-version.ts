import { hash } from 'node:crypto';
import { isExecutable, modifiedMsOf } from '../capability/file-facts.ts';
import { digestOfHash } from '../capability/transaction-name.ts';
import type { FileReading, FileVersion } from './workspace-files.ts';

/** `digest` is the SHA-256 in base64url. */
export function etagOfDigest(digest: string): string {
  return `"sha256-${digest}"`;
}

export function versionOf(bytes: Uint8Array): FileVersion {
  return versionOfHashes(new ContentHashes(bytes));
}

export function versionOfHashes({ sha1, etag, size }: ContentHashes): FileVersion {
  return { sha1, etag, size };
}

/** Both hashes of one content, each made when it is first asked for, as most callers need one or none. */
export class ContentHashes implements FileVersion {
  readonly bytes: Uint8Array;
  readonly size: number;
  #sha1: string | undefined;
  #sha256: Buffer | undefined;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
    this.size = bytes.length;
  }

  get sha1(): string {
    this.#sha1 ??= hash('sha1', this.bytes, 'hex');
    return this.#sha1;
  }

  get etag(): string {
    return etagOfDigest(this.#digest().toString('base64url'));
  }

  /** As the names of transactions have it. */
  get contentDigest(): string {
    return digestOfHash(this.#digest().toString('hex'));
  }

  #digest(): Buffer {
    this.#sha256 ??= hash('sha256', this.bytes, 'buffer');
    return this.#sha256;
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

  constructor(bytes: Uint8Array, facts: BigInt64Array, source: HashSource) {
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
