import { AuthorityError } from '../errors/index.ts';

/** Ends the wait when the caller goes away; the shared work goes on for the others. @throws `aborted` */
export async function abortable<Result>(work: Promise<Result>, signal?: AbortSignal): Promise<Result> {
  if (signal === undefined) return work;
  let onAbort: (() => void) | undefined;
  const gone = new Promise<never>((_, reject) => {
    onAbort = () => reject(new AuthorityError('aborted', { cause: signal.reason }));
    signal.addEventListener('abort', onAbort, { once: true });
  });
  try {
    return await Promise.race([work, gone]);
  } finally {
    if (onAbort !== undefined) signal.removeEventListener('abort', onAbort);
  }
}
