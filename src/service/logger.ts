/** What this package asks of a logger; a pino logger fits. Facts hold no content, no token, and no path outside a registered root. */
export interface Logger {
  debug(facts: object, message: string): void;
  info(facts: object, message: string): void;
  error(facts: object, message: string): void;
}

export const silentLogger: Logger = {
  debug: () => undefined,
  info: () => undefined,
  error: () => undefined,
};
