import { isCanonicalForm } from './canonical-form.ts';
import type { StoredIdentity } from './identity.ts';

const decimal = /^-?\d{1,20}$/;
const handle = /^-?\d{1,10}:[0-9a-f]{0,256}$/;

/**
 * Reads the fields of one JSON object, each exactly once, and refuses fields that nobody asked for: a later version of this package
 * may mean something by them. Every message names the field and never its value.
 */
export class RecordReader {
  readonly #fields: Readonly<Record<string, unknown>>;
  readonly #place: string;
  #taken = 0;

  constructor(value: unknown, place: string) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw new Error(`${place} is not an object`);
    }
    this.#fields = value as Readonly<Record<string, unknown>>;
    this.#place = place;
  }

  take<Value>(name: string, expected: string, accepts: (value: unknown) => value is Value): Value {
    const value = Object.hasOwn(this.#fields, name) ? this.#fields[name] : undefined;
    if (!accepts(value)) throw new Error(`${this.#place}.${name} is not ${expected}`);
    this.#taken += 1;
    return value;
  }

  identity(name: string): StoredIdentity {
    const place = `${this.#place}.${name}`;
    const reader = new RecordReader(this.take(name, 'an object', isObject), place);
    const identity = {
      inode: reader.take('inode', 'a decimal number in a string', isDecimal),
      fileSystemId: reader.take('fileSystemId', 'a decimal number in a string', isDecimal),
      handle: reader.take('handle', 'a file handle or null', isHandleOrNull),
      birthTimeNs: reader.take('birthTimeNs', 'a decimal number in a string or null', isDecimalOrNull),
    };
    reader.end();
    return identity;
  }

  identityOrNull(name: string): StoredIdentity | null {
    if (this.#fields[name] !== null) return this.identity(name);
    this.#taken += 1;
    return null;
  }

  path(name: string): string {
    return this.take(name, 'a canonical absolute path', isCanonicalPath);
  }

  time(name: string): string {
    return this.take(name, 'a time as toISOString() writes it', isTime);
  }

  end(): void {
    if (Object.keys(this.#fields).length > this.#taken) {
      throw new Error(`${this.#place} has a field of unknown name`);
    }
  }
}

export function readArray(body: Readonly<Record<string, unknown>>, name: string): readonly unknown[] {
  const { [name]: items, ...others } = body;
  if (!Array.isArray(items)) throw new Error(`${name} is not an array`);
  if (Object.keys(others).length > 0) throw new Error('has a field of unknown name');
  return items;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function isCanonicalPath(value: unknown): value is string {
  return typeof value === 'string' && isCanonicalForm(value);
}

function isDecimal(value: unknown): value is string {
  return typeof value === 'string' && decimal.test(value);
}

function isDecimalOrNull(value: unknown): value is string | null {
  return value === null || isDecimal(value);
}

function isHandleOrNull(value: unknown): value is string | null {
  return value === null || (typeof value === 'string' && handle.test(value));
}

function isTime(value: unknown): value is string {
  return typeof value === 'string' && new Date(value).toJSON() === value;
}
