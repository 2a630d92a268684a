import { constants } from 'node:os';
import type { DirectoryHandle } from '../../src/native/binding.ts';
import { native } from './addon.ts';

/** Every way in which the addon reads an entry beneath a directory, with its path as the first argument. */
const readers = ['openFile', 'openDirectory', 'read', 'readCached', 'stat', 'factsCached'] as const;

/**
 * From now on each read of an entry whose path ends with `suffix` fails with EIO, as with a broken disk, until it is disposed. The
 * faults of the addon itself strike in write transactions only.
 */
export async function failReads(suffix: string): Promise<Disposable> {
  const handle = await native.openRoot('/', {});
  const methods: DirectoryHandle = Object.getPrototypeOf(handle);
  handle.close();
  const kept = Object.fromEntries(readers.map((name) => [name, methods[name]]));
  for (const name of readers) {
    const whole = methods[name] as (...words: unknown[]) => unknown;
    const failing = function (this: DirectoryHandle, path: unknown, ...words: unknown[]): unknown {
      if (!String(path).endsWith(suffix)) return whole.call(this, path, ...words);
      const failure = Object.assign(new Error('EIO'), {
        code: 'EIO',
        errno: constants.errno.EIO,
        syscall: 'openat2',
      });
      if (name === 'readCached' || name === 'factsCached') throw failure;
      return Promise.reject(failure);
    };
    Object.assign(methods, { [name]: failing });
  }
  return {
    [Symbol.dispose]() {
      Object.assign(methods, kept);
    },
  };
}
