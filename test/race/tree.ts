import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** A sandbox with a root to serve (`root`), a directory nobody may reach (`outside`) and a state directory (`state`). */
export interface Sandbox extends Disposable {
  readonly base: string;
  readonly root: string;
  readonly outside: string;
  readonly state: string;
}

export const insideText = 'inside: these bytes may be seen\n';
export const outsideText = 'outside: these bytes may never be seen\n';

export function makeSandbox(): Sandbox {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'wa-race-')));
  const [root, outside, state] = ['root', 'outside', 'state'].map((name) => join(base, name)) as [
    string,
    string,
    string,
  ];
  for (const directory of [root, outside, state]) mkdirSync(directory);
  chmodSync(state, 0o700);
  return {
    base,
    root,
    outside,
    state,
    [Symbol.dispose]: () => rmSync(base, { recursive: true, force: true }),
  };
}

/**
 * Plants entries below the sandbox: `'root/a/'` a directory, `'root/f'` a file with inside text, `'outside/f'` one with outside text,
 * `'root/l => target'` a symbolic link ($BASE stands for the sandbox).
 */
export function plant(sandbox: Sandbox, entries: readonly string[]): void {
  for (const entry of entries) {
    const [name, target] = entry.split(' => ') as [string, string | undefined];
    const path = join(sandbox.base, name);
    mkdirSync(name.endsWith('/') ? path : dirname(path), { recursive: true });
    if (target !== undefined) symlinkSync(target.replaceAll('$BASE', sandbox.base), path);
    else if (!name.endsWith('/')) writeFileSync(path, name.startsWith('outside/') ? outsideText : insideText);
  }
}
