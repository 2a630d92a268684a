import { isFullRefName } from './values.ts';

/** What a HEAD file says. The ref is kept as Latin-1, so that it stands for exactly the bytes of the file. */
export type Head =
  | { readonly kind: 'symbolic'; readonly ref: string }
  | { readonly kind: 'detached'; readonly oid: string };

/** Longest HEAD that is read: a ref of a whole path's length and the words around it. */
export const headLimitBytes = 4200;

/**
 * Reads HEAD by the one spelling that Git writes: `ref: refs/...` or a full object name, and one newline. Null for every other
 * content, also for what Git or libgit2 would forgive: libgit2 opens a repository whose HEAD is garbage.
 */
export function parseHead(bytes: Uint8Array): Head | null {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
  if (!text.endsWith('\n')) return null;
  const line = text.slice(0, -1);
  if (/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(line)) return { kind: 'detached', oid: line };
  if (!line.startsWith('ref: ')) return null;
  const ref = line.slice('ref: '.length);
  return isFullRefName(ref) ? { kind: 'symbolic', ref } : null;
}

/** The short name of a ref below `prefix`, decoded; null when it lies elsewhere or is not UTF-8. Never guesses like `--short` does. */
export function shortNameBelow(prefix: string, latin1Ref: string): string | null {
  if (!latin1Ref.startsWith(prefix)) return null;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(
      Buffer.from(latin1Ref.slice(prefix.length), 'latin1'),
    );
  } catch {
    return null;
  }
}
