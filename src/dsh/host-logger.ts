import { inspect } from 'node:util';
import type { Logger } from '../service/logger.ts';
import { methodOf } from './host-services.ts';

/** The host's logger (`ctx.logger`, the same in all versions: a method for each level, which takes a format and its arguments) as ours. */
export function createHostLogger(hostLogger: unknown): Logger {
  const write =
    (level: string) =>
    (facts: object, message: string): void => {
      const rest = Object.entries(facts).map(([name, value]) => ` ${name}=${inspect(value, { depth: 3 })}`);
      methodOf(hostLogger, level)?.('%s', `workspace-authority: ${message}${rest.join('')}`);
    };
  return { debug: write('debug'), info: write('info'), error: write('error') };
}
