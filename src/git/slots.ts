/** A bounded number of places, given out first come, first served. */
export interface Slots {
  /** Resolves with the function that gives the place back; rejects with the signal's reason when it ends first. */
  take(signal?: AbortSignal): Promise<() => void>;
  readonly taken: number;
}

export function createSlots(count: number): Slots {
  let taken = 0;
  const waiting = new Set<() => void>();

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

  function take(signal?: AbortSignal): Promise<() => void> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    if (taken < count && waiting.size === 0) return Promise.resolve(give());
    return new Promise((resolve, reject) => {
      const turn = () => {
        waiting.delete(turn);
        signal?.removeEventListener('abort', leave);
        resolve(give());
      };
      const leave = () => {
        waiting.delete(turn);
        reject(signal?.reason);
      };
      waiting.add(turn);
      signal?.addEventListener('abort', leave, { once: true });
    });
  }

  return {
    take,
    get taken() {
      return taken;
    },
  };
}
