/** @throws Error saying that two records claim one path: then nobody owns it */
export function indexByPath<Item extends { readonly path: string }>(
  items: readonly Item[],
): ReadonlyMap<string, Item> {
  const byPath = new Map(items.map((item) => [item.path, item]));
  if (byPath.size < items.length) throw new Error('contains ambiguous path ownership: a path occurs twice');
  return byPath;
}
