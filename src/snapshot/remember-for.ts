/** Asks again only when the last answer is older than so many milliseconds; a failure is not remembered. */
export function rememberFor<Result>(
  milliseconds: number,
  ask: (signal?: AbortSignal) => Promise<Result>,
): (signal?: AbortSignal) => Promise<Result> {
  let last: { readonly answer: Promise<Result>; readonly askedAt: number } | null = null;
  return (signal) => {
    const now = Date.now();
    if (last !== null && now >= last.askedAt && now - last.askedAt < milliseconds) return last.answer;
    const asked = { answer: ask(signal), askedAt: now };
    last = asked;
    asked.answer.catch(() => {
      if (last === asked) last = null;
    });
    return asked.answer;
  };
}
