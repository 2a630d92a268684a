import { deviceOf, inodeOf } from '../capability/file-facts.ts';
import type { GateKey } from '../mutation/mutation-gate.ts';
import type { ContentHashes } from './content-version.ts';
import type { CurrentContent } from './current-content.ts';

/** Above this, reading costs little beside the commit itself. */
const longestContent = 64 * 1024;
const capacity = 64;

/**
 * What this process last committed under a path, so that a client that saves again and again does not wait for a look at its own last save.
 * Never an answer, only a guess at what stands there: the commit compares inode and content with what it meets.
 */
export class LastCommits {
  readonly #commits = new Map<GateKey, CurrentContent>();

  find(key: GateKey): CurrentContent | undefined {
    return this.#commits.get(key);
  }

  remember(key: GateKey, content: ContentHashes, facts: BigInt64Array): void {
    this.#commits.delete(key);
    if (content.size > longestContent) return;
    const oldest = this.#commits.keys().next().value;
    if (this.#commits.size >= capacity && oldest !== undefined) this.#commits.delete(oldest);
    this.#commits.set(key, { content, inode: inodeOf(facts), device: deviceOf(facts) });
  }
}
