/** A bounded number of places, given out first come, first served. */
export interface Slots {
  /** Resolves with the function that gives the place back; rejects with the signal's reason when it ends first. */
  take(signal?: AbortSignal): Promise<() => void>;
  readonly taken: number;
  /** Resolves when nobody waits for a place; rejects with the signal's reason when it ends first. */
  untilNoneWaits(signal: AbortSignal): Promise<void>;
}

export function createSlots(count: number): Slots {
  let taken = 0;
  const waiting = new Set<() => void>();
  const idle = new Set<() => void>();

  function give(): () => void {
    taken += 1;
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      taken -= 1;
      const [next] = waiting;
      if (next !== undefined) next();
    };
  }

  function gone(turn: () => void): void {
    waiting.delete(turn);
    if (waiting.size === 0) for (const resolve of [...idle]) resolve();
  }

  function untilNoneWaits(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.reject(signal.reason);
    if (waiting.size === 0) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const settle = () => {
        idle.delete(settle);
        signal.removeEventListener('abort', leave);
        resolve();
      };
      const leave = () => {
        idle.delete(settle);
        reject(signal.reason);
      };
      idle.add(settle);
      signal.addEventListener('abort', leave, { once: true });
    });
  }

  function take(signal?: AbortSignal): Promise<() => void> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    if (taken < count && waiting.size === 0) return Promise.resolve(give());
    return new Promise((resolve, reject) => {
      const turn = () => {
        gone(turn);
        signal?.removeEventListener('abort', leave);
        resolve(give());
      };
      const leave = () => {
        gone(turn);
        reject(signal?.reason);
      };
      waiting.add(turn);
      signal?.addEventListener('abort', leave, { once: true });
    });
  }

  return {
    take,
    untilNoneWaits,
    get taken() {
      return taken;
    },
  };
}
