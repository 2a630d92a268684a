import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

const source = join(import.meta.dirname, '../proof/programs/exchange.c');

/** Compiles the attacker into `directory`, and answers with its path. */
export function buildExchanger(directory: string): string {
  const program = join(directory, 'exchange');
  execFileSync('cc', ['-O2', '-o', program, source]);
  return program;
}

/** Exchanges two names until it is disposed, with pauses of at most `longestUs` microseconds. They end as they were. */
export async function exchange(
  program: string,
  [first, second]: readonly [string, string],
  longestUs: number,
): Promise<AsyncDisposable> {
  const attacker = spawn(program, [first, second, String(longestUs)], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(attacker, 'exit');
  const started = await Promise.race([once(attacker.stdout, 'data'), ended.then(() => null)]);
  if (started === null) throw new Error('the attacker did not start');
  return {
    async [Symbol.asyncDispose]() {
      attacker.stdin.end();
      const [code] = await ended;
      if (code !== 0) throw new Error(`the attacker failed with ${code}`);
    },
  };
}
