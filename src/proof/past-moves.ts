import { codeOf } from '../capability/refusal.ts';

/** Far more moves in a row than even a program that does nothing else brings about; a look takes microseconds. */
const attempts = 64;

/**
 * Looks again when an entry seems to be a mount point: openat2(2) fails with EXDEV also for one that is moved away meanwhile, but only a
 * mount point stays. @throws what the last look threw
 */
export async function pastMoves<Result>(look: () => Result | Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await look();
    } catch (error) {
      if (codeOf(error) !== 'EXDEV' || attempt === attempts) throw error;
    }
  }
}
