/** Image formats that browsers show, by extension: the only files served inline. */
const typesByExtension: ReadonlyMap<string, string> = new Map([
  ['png', 'image/png'],
  ['jpg', 'image/jpeg'],
  ['jpeg', 'image/jpeg'],
  ['gif', 'image/gif'],
  ['webp', 'image/webp'],
  ['svg', 'image/svg+xml'],
  ['ico', 'image/x-icon'],
  ['bmp', 'image/bmp'],
  ['avif', 'image/avif'],
]);

/** Media type of an image by the extension of its name, or null. */
export function imageType(path: string): string | null {
  const dot = path.lastIndexOf('.');
  if (dot === -1 || path.includes('/', dot)) return null;
  return typesByExtension.get(path.slice(dot + 1).toLowerCase()) ?? null;
}
