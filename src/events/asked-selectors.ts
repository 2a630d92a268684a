/** Subjects, and selectors of each, that are remembered at most. */
const mostSubjects = 256;
const mostSelectors = 200;

/** What each subject asked about lately. */
export class AskedSelectors {
  readonly #keptMs: number;
  /** Both maps keep the order of use. */
  readonly #bySubject = new Map<string, Map<string, number>>();

  constructor(keptMs: number) {
    this.#keptMs = keptMs;
  }

  note(subject: string, selectors: readonly string[], now: number): void {
    const asked = this.#bySubject.get(subject) ?? new Map<string, number>();
    touch(this.#bySubject, subject, asked, mostSubjects);
    for (const selector of selectors) touch(asked, selector, now, mostSelectors);
  }

  /** Selectors that the subject asked about not longer ago than they are kept. */
  of(subject: string, now: number): readonly string[] {
    const asked = this.#bySubject.get(subject);
    if (asked === undefined) return [];
    for (const [selector, askedAt] of asked) if (now - askedAt > this.#keptMs) asked.delete(selector);
    if (asked.size === 0) this.#bySubject.delete(subject);
    return [...asked.keys()];
  }
}

function touch<Value>(entries: Map<string, Value>, key: string, value: Value, most: number): void {
  entries.delete(key);
  entries.set(key, value);
  if (entries.size <= most) return;
  for (const oldest of entries.keys()) {
    entries.delete(oldest);
    return;
  }
}
