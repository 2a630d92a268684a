import type { ErrorCode } from '../../src/errors/index.ts';
import type { Attack } from './attacker.ts';

/** One race: what is planted, what the attacker swaps (paths below the sandbox), what is read, and every outcome that may be seen. */
export interface Swap {
  readonly title: string;
  readonly plant: readonly string[];
  readonly attack: Attack;
  readonly path: string;
  readonly allowed: readonly ('inside' | ErrorCode)[];
}

export const swaps: readonly Swap[] = [
  {
    title: 'a directory and a relative link to outside',
    plant: ['root/a/b/c/f', 'outside/c/f', 'root/a/evil => ../../outside'],
    attack: ['exchange', 'root/a/b', 'root/a/evil'],
    path: 'a/b/c/f',
    allowed: ['inside', 'path_outside_workspace', 'busy'],
  },
  {
    title: 'a directory and an absolute link to outside',
    plant: ['root/a/b/c/f', 'outside/c/f', 'root/a/evil => $BASE/outside'],
    attack: ['exchange', 'root/a/b', 'root/a/evil'],
    path: 'a/b/c/f',
    allowed: ['inside', 'path_outside_workspace', 'busy'],
  },
  {
    title: 'a file and a link to an outside file',
    plant: ['root/a/f', 'outside/f', 'root/a/evil => ../../outside/f'],
    attack: ['exchange', 'root/a/f', 'root/a/evil'],
    path: 'a/f',
    allowed: ['inside', 'path_outside_workspace', 'busy'],
  },
  {
    title: 'a link that stays inside and one that leads outside',
    plant: ['root/d/f', 'outside/f', 'root/link => d', 'root/evil => ../outside'],
    attack: ['exchange', 'root/link', 'root/evil'],
    path: 'link/f',
    allowed: ['inside', 'path_outside_workspace', 'busy'],
  },
  {
    title: 'the target of a followed link and a link to outside',
    plant: ['root/link => d', 'root/d/f', 'outside/f', 'root/evil => ../outside'],
    attack: ['exchange', 'root/d', 'root/evil'],
    path: 'link/f',
    allowed: ['inside', 'path_outside_workspace', 'busy'],
  },
  {
    title: 'a directory and a file',
    plant: ['root/a/b/c/f', 'root/a/file'],
    attack: ['exchange', 'root/a/b', 'root/a/file'],
    path: 'a/b/c/f',
    allowed: ['inside', 'not_found', 'busy'],
  },
  {
    title: 'a directory and a dangling link',
    plant: ['root/a/b/f', 'root/a/evil => nowhere'],
    attack: ['exchange', 'root/a/b', 'root/a/evil'],
    path: 'a/b/f',
    allowed: ['inside', 'not_found', 'busy'],
  },
  {
    title: 'a directory that is moved out of the root and back',
    plant: ['root/a/b/c/f'],
    attack: ['bounce', 'root/a/b', 'outside/b'],
    path: 'a/b/c/f',
    allowed: ['inside', 'not_found', 'path_outside_workspace', 'busy'],
  },
  {
    title: 'a file and a link into Git administration',
    plant: ['root/a/f', 'root/a/evil => ../nested/.git/config'],
    attack: ['exchange', 'root/a/f', 'root/a/evil'],
    path: 'a/f',
    allowed: ['inside', 'administrative_path', 'busy'],
  },
  {
    title: 'a plain directory and one shaped like a Git directory',
    plant: ['root/a/b/f'],
    attack: ['exchange', 'root/a/b', 'root/a/bare'],
    path: 'a/b/f',
    allowed: ['inside', 'administrative_path', 'busy'],
  },
  {
    title: 'the root itself and another directory',
    plant: ['root/a/f', 'outside/a/f'],
    attack: ['exchange', 'root', 'outside'],
    path: 'a/f',
    allowed: ['inside', 'workspace_not_authorized', 'identity_changed', 'busy'],
  },
  {
    title: 'the root itself and a link to outside',
    plant: ['root/a/f', 'outside/a/f', 'evil => outside'],
    attack: ['exchange', 'root', 'evil'],
    path: 'a/f',
    allowed: ['inside', 'workspace_not_authorized', 'identity_changed', 'busy'],
  },
];
