/** Time, as far as this room and those that feed it need it. */
export interface Clock {
  /** Milliseconds since some beginning; never goes back. */
  now(): number;
  /** Runs once after so many milliseconds, unless what it returns is called before. Keeps no process alive. */
  after(milliseconds: number, run: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => performance.now(),
  after(milliseconds, run) {
    const timer = setTimeout(run, milliseconds).unref();
    return () => clearTimeout(timer);
  },
};
