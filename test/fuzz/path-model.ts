/**
 * What the product should do with a path, told by a small model that shares no code with it: the tree is a map, links are followed by
 * walking it, and names are judged by normalising them.
 */
export type Node =
  | { readonly type: 'directory'; readonly closed?: true }
  | { readonly type: 'file'; readonly content: string }
  | { readonly type: 'other' }
  | { readonly type: 'link'; readonly target: string };

/** Where a path leads. `links`: whether a link was on the way, the last component included. */
export interface Walk {
  readonly end: 'file' | 'directory' | 'other' | 'missing' | 'outside' | 'closed' | 'loop';
  readonly links: boolean;
  readonly content: string | null;
}

export class TreeModel {
  readonly #root: string;
  readonly #nodes = new Map<string, Node>([['', { type: 'directory' }]]);

  /** `root`: the absolute path that links of the tree use for it. */
  constructor(root: string, nodes: Readonly<Record<string, Node>>) {
    this.#root = root;
    for (const [path, node] of Object.entries(nodes)) this.#nodes.set(path, node);
  }

  at(path: string): Node | undefined {
    return this.#nodes.get(path);
  }

  walk(path: string, followLast: boolean): Walk {
    let links = false;
    const at: string[] = [];
    const pending = path.split('/');
    for (let steps = 0; pending.length > 0; steps += 1) {
      if (steps > 500) return { end: 'loop', links, content: null };
      const component = pending.shift() as string;
      if (component === '' || component === '.') continue;
      if (component === '..') {
        if (at.length === 0) return { end: 'outside', links, content: null };
        at.pop();
        continue;
      }
      if (isClosedName(component)) return { end: 'closed', links, content: null };
      const here = [...at, component].join('/');
      const node = this.#nodes.get(here);
      if (node?.type === 'directory' && node.closed) return { end: 'closed', links, content: null };
      if (node?.type !== 'link') {
        const isLast = pending.every((rest) => rest === '' || rest === '.');
        if (node === undefined || (node.type !== 'directory' && !isLast)) {
          // A path that fails on the way may still name what is refused before it is looked up, or climb out lexically.
          return { end: 'missing', links, content: null };
        }
        at.push(component);
        continue;
      }
      links = true;
      if (pending.length === 0 && !followLast) return { end: 'other', links, content: null };
      const target = this.#withinRoot(node.target);
      if (target === null) return { end: 'outside', links, content: null };
      if (node.target.startsWith('/')) at.length = 0;
      pending.unshift(...target.split('/'));
    }
    const node = this.#nodes.get(at.join('/'));
    if (node === undefined) return { end: 'missing', links, content: null };
    const content = node.type === 'file' ? node.content : null;
    return { end: node.type as 'file' | 'directory' | 'other', links, content };
  }

  #withinRoot(target: string): string | null {
    if (!target.startsWith('/')) return target;
    if (target === this.#root) return '';
    return target.startsWith(`${this.#root}/`) ? target.slice(this.#root.length + 1) : null;
  }
}

/** What parsing alone makes of a path: null where it goes on to the tree. */
export function parseOutcome(path: string): 'invalid_path' | 'path_outside_workspace' | null {
  if (/\0/.test(path) || path === '' || path !== path.toWellFormed()) return 'invalid_path';
  if (path.startsWith('/')) return 'path_outside_workspace';
  const components = path.split('/');
  let depth = 0;
  for (const component of components) {
    if (component === '..') depth -= 1;
    else if (component !== '.' && component !== '') depth += 1;
    if (depth < 0) return 'path_outside_workspace';
  }
  const plain = (component: string) =>
    component !== '' && component !== '.' && component !== '..' && Buffer.byteLength(component) <= 255;
  return components.every(plain) && Buffer.byteLength(path) <= 4095 ? null : 'invalid_path';
}

/** Names that Git, HFS+ or NTFS take for `.git`, and names of running transactions. */
export function isClosedName(component: string): boolean {
  const folded = component
    .replace(/[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g, '')
    .toLowerCase()
    .replace(/:.*$/s, '')
    .replace(/[. ]+$/, '');
  return folded === '.git' || folded === 'git~1' || /^\.wa-[0-9a-f]{32}\..*\.tmp$/is.test(component);
}
