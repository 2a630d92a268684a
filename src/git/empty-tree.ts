import type { ObjectOid } from './values.ts';

declare const emptyTreeBrand: unique symbol;

/** Name of the tree without entries, which every repository knows: what an unborn branch or a root commit is compared with. */
export type EmptyTree = string & { readonly [emptyTreeBrand]: true };

/** The empty tree by object format (SHA-1 and SHA-256 of `tree 0` and a NUL). */
export const emptyTrees: Readonly<Record<'sha1' | 'sha256', EmptyTree>> = {
  sha1: '4b825dc642cb6eb9a060e54bf8d69288fbee4904' as string as EmptyTree,
  sha256: '6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321' as string as EmptyTree,
};

/** The empty tree of the repository that has the object: the length of a name tells the format. */
export function emptyTreeOf(oid: ObjectOid): EmptyTree {
  return emptyTrees[oid.length === emptyTrees.sha1.length ? 'sha1' : 'sha256'];
}
