import { hash } from 'node:crypto';
import { isExecutable, modifiedMsOf } from '../capability/file-facts.ts';
import type { FileReading, FileVersion } from './workspace-files.ts';

export function sha1Of(bytes: Uint8Array): string {
  return hash('sha1', bytes, 'hex');
}

export function etagOf(bytes: Uint8Array): string {
  return etagOfDigest(hash('sha256', bytes, 'base64url'));
}

/** `digest` is the SHA-256 in base64url. */
export function etagOfDigest(digest: string): string {
  return `"sha256-${digest}"`;
}

export function versionOf(bytes: Uint8Array): FileVersion {
  return { sha1: sha1Of(bytes), etag: etagOf(bytes), size: bytes.length };
}

/**
 * A reading whose hashes are made when first asked for, as most readers need one or none. They are those of `bytes` as they are then:
 * whoever changes the array gets the hash of the changed content.
 */
export class ContentReading implements FileReading {
  readonly bytes: Uint8Array;
  readonly size: number;
  readonly modifiedMs: number;
  readonly executable: boolean;
  #sha1: string | undefined;
  #etag: string | undefined;

  constructor(bytes: Uint8Array, facts: BigInt64Array) {
    this.bytes = bytes;
    this.size = bytes.length;
    this.modifiedMs = modifiedMsOf(facts);
    this.executable = isExecutable(facts);
  }

  get sha1(): string {
    this.#sha1 ??= sha1Of(this.bytes);
    return this.#sha1;
  }

  get etag(): string {
    this.#etag ??= etagOf(this.bytes);
    return this.#etag;
  }
}
