import type { ParseArgsConfig } from 'node:util';

export type OptionTable = NonNullable<ParseArgsConfig['options']>;
export type OptionValues = Readonly<
  Record<string, string | boolean | readonly (string | boolean)[] | undefined>
>;

/** Where a command writes. */
export interface Terminal {
  /** One line on standard output. */
  print(line: string): unknown;
  /** One line on standard error, for people only. */
  note(line: string): unknown;
}

export interface Invocation {
  readonly values: OptionValues;
  readonly positionals: readonly string[];
  readonly terminal: Terminal;
  /** Answers are one JSON object on one line. */
  readonly json: boolean;
  /** Absolute; undefined leaves the choice to the environment. */
  readonly stateDirectory: string | undefined;
}

export interface Command {
  readonly name: string;
  /** After the name, as in `PATH [--title TEXT]`. */
  readonly usage: string;
  readonly summary: string;
  /** Lines on its options. */
  readonly help?: readonly string[];
  /** Beside `--state`, `--json` and `--help`, which all have. */
  readonly options?: OptionTable;
  /** Least and most number of positionals. */
  readonly positionals: readonly [number, number];
  /** Exit code; 0 when it answers nothing. @throws UsageError | AuthorityError */
  run(invocation: Invocation): Promise<number | undefined>;
}

/** The words on the command line make no sense: exit code 2. */
export class UsageError extends Error {}

export const exitRefused = 1;
export const exitUsage = 2;

export function textOption(values: OptionValues, name: string): string | undefined {
  const value = values[name];
  return typeof value === 'string' ? value : undefined;
}

export function listOption(values: OptionValues, name: string): readonly string[] {
  const value = values[name];
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}
