import { join } from 'node:path';
import type { DirectoryHandle, NativeBinding } from '../../src/native/binding.ts';
import { native } from './addon.ts';

/** What to do instead of one kind of call on the handle of a directory that was opened under the path `place`. */
export interface Instead {
  readCached?(place: string, whole: DirectoryHandle['readCached']): DirectoryHandle['readCached'];
  leadsHere?(place: string, whole: DirectoryHandle['leadsHere']): DirectoryHandle['leadsHere'];
}

/** The real addon, whose directory handles, and those that are opened beneath them, stand behind a proxy. */
export function watchHandles(instead: Instead): NativeBinding {
  const handles = new WeakMap<DirectoryHandle, DirectoryHandle>();
  const wrap = (place: string, handle: DirectoryHandle): DirectoryHandle => {
    const proxy = new Proxy(handle, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== 'function') return value;
        // The addon's methods know only its own objects.
        const whole = value.bind(target);
        if (name === 'openDirectory') {
          return async (path: string) => wrap(join(place, path), await target.openDirectory(path));
        }
        if (name === 'readCached' || name === 'leadsHere') return instead[name]?.(place, whole) ?? whole;
        return whole;
      },
    });
    handles.set(proxy, handle);
    return proxy;
  };
  return {
    probe: () => native.probe(),
    openHandles: () => native.openHandles(),
    openRoot: async (path, options) => wrap(path, await native.openRoot(path, options)),
    createGuard: (root, rules) => native.createGuard(handles.get(root) ?? root, rules),
  };
}
