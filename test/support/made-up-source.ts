import { AuthorityError, type ErrorCode } from '../../src/errors/index.ts';
import type { EventSource, Following, SourceListener } from '../../src/events/source.ts';

/** Changes that a test makes up. */
export class MadeUpSource<Value> implements EventSource<Value> {
  readonly refused: Map<string, ErrorCode> = new Map();
  readonly listeners: Map<string, SourceListener<Value>> = new Map();
  followed = 0;

  async prove(selectors: readonly string[]): Promise<readonly (AuthorityError | null)[]> {
    return selectors.map((selector) => {
      const code = this.refused.get(selector);
      return code === undefined ? null : new AuthorityError(code);
    });
  }

  follow(selector: string, listener: SourceListener<Value>): Following {
    this.followed += 1;
    this.listeners.set(selector, listener);
    return { close: () => void this.listeners.delete(selector) };
  }

  change(selector: string, value: Value): void {
    this.listeners.get(selector)?.onChange(value);
  }
}
