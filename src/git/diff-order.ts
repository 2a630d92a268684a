/**
 * Puts directories before files on each level, then names by their UTF-16 units: the same order on every machine and under every locale.
 */
export function inDiffOrder<File extends { readonly path: string }>(files: readonly File[]): File[] {
  return files
    .map((file) => ({ file, components: file.path.split('/') }))
    .sort((one, other) => compare(one.components, other.components))
    .map(({ file }) => file);
}

function compare(one: readonly string[], other: readonly string[]): number {
  const shared = Math.min(one.length, other.length);
  for (let depth = 0; depth < shared; depth += 1) {
    const [oneIsFile, otherIsFile] = [depth === one.length - 1, depth === other.length - 1];
    if (oneIsFile !== otherIsFile) return oneIsFile ? 1 : -1;
    const [name = '', otherName = ''] = [one[depth], other[depth]];
    if (name !== otherName) return name < otherName ? -1 : 1;
  }
  return one.length - other.length;
}
