import { AuthorityError } from '../errors/index.ts';

interface Kept<Value> {
  readonly value: Value;
  readonly etag: string | null;
  readonly at: number;
}

/** A value with its tag, or null where it is still that of the tag which was sent. */
export type Renewed<Value> = { readonly value: Value; readonly etag: string | null } | null;

const freshMs = 30_000;
const mostEntries = 512;

/** Answers of a forge for at most 30 s, then asked for again by their tags; who asks for the same at the same time shares one question. */
export class AnswerCache {
  readonly #kept = new Map<string, Kept<unknown>>();
  readonly #asked = new Map<string, Promise<unknown>>();

  async get<Value>(
    key: string,
    renew: (etag: string | undefined) => Promise<Renewed<Value>>,
    signal?: AbortSignal,
  ): Promise<Value> {
    const kept = this.#kept.get(key) as Kept<Value> | undefined;
    if (kept !== undefined && performance.now() - kept.at < freshMs) return kept.value;
    const asked = (this.#asked.get(key) as Promise<Value> | undefined) ?? this.#ask(key, kept, renew);
    return await unlessAborted(asked, signal);
  }

  /** Forgets all whose key begins so, and what is being asked under such keys is not kept. */
  forget(prefix: string): void {
    for (const map of [this.#kept, this.#asked])
      for (const key of map.keys()) if (key.startsWith(prefix)) map.delete(key);
  }

  #ask<Value>(
    key: string,
    kept: Kept<Value> | undefined,
    renew: (etag: string | undefined) => Promise<Renewed<Value>>,
  ): Promise<Value> {
    let asking: Promise<Value> | null = null;
    asking = (async () => {
      try {
        const renewed = (await renew(kept?.etag ?? undefined)) ?? kept;
        if (renewed === undefined) throw new AuthorityError('forge_response_invalid');
        // Forgotten meanwhile: what was asked may be older than the change.
        if (this.#asked.get(key) === asking) this.#keep(key, renewed);
        return renewed.value;
      } finally {
        if (this.#asked.get(key) === asking) this.#asked.delete(key);
      }
    })();
    this.#asked.set(key, asking);
    return asking;
  }

  #keep<Value>(key: string, { value, etag }: { value: Value; etag: string | null }): void {
    this.#kept.delete(key);
    this.#kept.set(key, { value, etag, at: performance.now() });
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > mostEntries && oldest !== undefined) this.#kept.delete(oldest);
  }
}

async function unlessAborted<Value>(asked: Promise<Value>, signal?: AbortSignal): Promise<Value> {
  if (signal === undefined) return await asked;
  let abort = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(new AuthorityError('aborted'));
  });
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([asked, aborted]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
