/** What a trial has to undo, in reverse order. */
export interface Cleanup {
  add(undo: () => unknown): void;
  use<Resource extends AsyncDisposable>(resource: Resource): Resource;
}

export async function withCleanup<Result>(work: (cleanup: Cleanup) => Promise<Result>): Promise<Result> {
  const undos: (() => unknown)[] = [];
  const cleanup: Cleanup = {
    add: (undo) => undos.push(undo),
    use(resource) {
      undos.push(() => resource[Symbol.asyncDispose]());
      return resource;
    },
  };
  try {
    return await work(cleanup);
  } finally {
    for (const undo of undos.reverse()) await undo();
  }
}
