import { readFileSync } from 'node:fs';

/** Version of this package. Its manifest lies two levels above this file, compiled or not. */
export const version: string = readVersion();

function readVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  return (manifest as { readonly version: string }).version;
}
