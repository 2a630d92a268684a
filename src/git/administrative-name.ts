/**
 * Code points that HFS+ leaves out when it compares names, so that `.g<U+200C>it` is `.git` there. The list is the one Git
 * ignores when it looks for a disguised `.git` (core.protectHFS, git-config(1)).
 */
const ignoredByHfs = '[\\u200c-\\u200f\\u202a-\\u202e\\u206a-\\u206f\\ufeff]*';

const hfsSpelling = new RegExp(`^${['', '\\.', '[gG]', '[iI]', '[tT]', '$'].join(ignoredByHfs)}`);

/**
 * `.git` or its short name `git~1`, then any dots and spaces (which NTFS drops), then the end, a stream suffix (`:`) or what NTFS
 * takes for a separator (core.protectNTFS, git-config(1)).
 */
const ntfsSpelling = /(?:^|\\)(?:\.git|git~1)[. ]*(?:$|[\\:])/i;

/**
 * Whether one path component is a name that Git itself would treat as `.git` on some file system (R12): any case, with the
 * characters HFS+ ignores, or one of the NTFS forms. Names that merely begin like it (`.gitignore`, `git~10`) are not.
 * The component holds no `/`.
 */
export function isAdministrativeName(component: string): boolean {
  return hfsSpelling.test(component) || ntfsSpelling.test(component);
}
