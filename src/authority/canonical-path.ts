import { realpath } from 'node:fs/promises';
import { AuthorityError } from '../errors/index.ts';

/** Follows the symbolic links of selectors. */
export interface PathCanonicalizer {
  /**
   * The canonical spelling of what the path leads to; null when it leads nowhere or its name is not UTF-8.
   * @throws `deadline_exceeded` | `queue_full`
   */
  canonicalize(path: string): Promise<string | null>;
}

/** A lookup takes microseconds, unless a network or automatic mount stands in the way. */
const deadlineMs = 5000;
const queueLimit = 1000;

/**
 * A caller chooses the path, and a path can lead into a mount that never answers. One lookup runs at a time, so at worst one thread of
 * the pool is lost to it, and selectors spelled canonically do not come here at all.
 */
export function createPathCanonicalizer(
  follow: (path: string) => Promise<Buffer> = followLinks,
): PathCanonicalizer {
  let last: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  return {
    async canonicalize(path: string): Promise<string | null> {
      if (waiting >= queueLimit) throw new AuthorityError('queue_full', { details: { what: 'selector' } });
      waiting += 1;
      const turn = last.then(() => follow(path)).then(decode, () => null);
      last = turn.finally(() => {
        waiting -= 1;
      });
      return withDeadline(turn);
    },
  };
}

function followLinks(path: string): Promise<Buffer> {
  return realpath(path, { encoding: 'buffer' });
}

function decode(path: Buffer): string | null {
  const text = path.toString('utf8');
  return Buffer.from(text).equals(path) ? text : null;
}

async function withDeadline<Result>(work: Promise<Result>): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new AuthorityError('deadline_exceeded', { details: { what: 'selector' } })),
      deadlineMs,
    );
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
