import { type FSWatcher, watch } from 'node:fs';
import type { DirectoryHandle } from '../capability/handles.ts';

/** What happened in a watched directory. `name` is null where the kernel does not tell. */
export type OnChange = (name: Buffer | null, namesChanged: boolean) => void;

/** Null when the kernel gives no further watch (inotify(7), `max_user_watches`), or cannot watch there. */
export type DirectoryWatch = FSWatcher;

/**
 * Watches the entries of a held directory itself, whatever its name leads to; the handle may be closed afterwards. Content changes below
 * it, through shared mappings or other names of the same file (hard links), and on other machines are not told of (inotify(7), "Limitations").
 */
export function watchDirectory(
  directory: DirectoryHandle,
  onChange: OnChange,
  onBroken: () => void,
): DirectoryWatch | null {
  try {
    const options = { persistent: false, encoding: 'buffer' } as const;
    const watcher = watch(directory.descriptorPath(), options, (event, name) => {
      onChange(name, event === 'rename');
    });
    watcher.on('error', onBroken);
    return watcher;
  } catch {
    return null;
  }
}
