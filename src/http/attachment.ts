/**
 * `Content-Disposition` that saves a download under its own name (RFC 6266): plain ASCII for old readers, and the whole name as
 * RFC 8187 text. Quotes, backslashes and controls never reach the plain form.
 */
export function attachment(path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1);
  const plain = name.replaceAll(/[^\x20-\x7e]|["\\%]/g, '_');
  const encoded = encodeURIComponent(name).replaceAll(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`;
}
