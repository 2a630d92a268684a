/** One program of a driver, started directly. */
export interface DriverProgram {
  /** Absolute path; found by no search. */
  readonly program: string;
  /** Literal words. `%f` in a filter and `%O %A %B %L %P` in a merge driver are a word each, which Git replaces (gitattributes(5)). */
  readonly words: readonly string[];
}

/**
 * A driver that the operator trusts. Its programs take the place of whatever a repository names for that driver, and are there even where
 * the repository names none: the configuration of a user, where such drivers usually stand, is not read.
 */
export type AllowedDriver =
  | {
      readonly kind: 'filter';
      readonly name: string;
      readonly clean: DriverProgram;
      readonly smudge: DriverProgram;
    }
  | {
      readonly kind: 'filter';
      readonly name: string;
      /** One program for both directions and many files (gitattributes(5), "Long Running Filter Process"). */
      readonly process: DriverProgram;
    }
  | { readonly kind: 'merge'; readonly name: string; readonly driver: DriverProgram };

/** Git's placeholders by kind of driver; no other word may hold a `%`. */
const placeholders: Readonly<Record<AllowedDriver['kind'], ReadonlySet<string>>> = {
  filter: new Set(['%f']),
  merge: new Set(['%O', '%A', '%B', '%L', '%P']),
};

/**
 * The settings, `key=value` each, that let exactly these programs run. A filter that fails is an error, never unfiltered content.
 * @throws TypeError for what an operator cannot have meant: a name or program that is no plain one, a driver named twice
 */
export function settingsOfDrivers(drivers: readonly AllowedDriver[]): readonly string[] {
  const names = drivers.map(({ kind, name }) => `${kind}.${name}`);
  if (new Set(names).size !== names.length) throw new TypeError('a driver is named twice');
  return drivers.flatMap(settingsOf);
}

/** The key of each setting in `settingsOfDrivers`: what is pinned, and so needs no judgement where a repository sets it. */
export function pinnedKeys(settings: readonly string[]): ReadonlySet<string> {
  return new Set(settings.map((setting) => setting.slice(0, setting.indexOf('='))));
}

function settingsOf(driver: AllowedDriver): string[] {
  if (!/^[A-Za-z0-9_-]+$/.test(driver.name)) throw new TypeError('not a plain name of a driver');
  const line = (program: DriverProgram) => commandLine(program, placeholders[driver.kind]);
  if (driver.kind === 'merge') return [`merge.${driver.name}.driver=${line(driver.driver)}`];
  const key = `filter.${driver.name}`;
  return [
    ...('process' in driver
      ? // Git prefers a process, if only an empty one; so the other two are off, and without a process that key stays free.
        [`${key}.clean=`, `${key}.smudge=`, `${key}.process=${line(driver.process)}`]
      : [`${key}.clean=${line(driver.clean)}`, `${key}.smudge=${line(driver.smudge)}`]),
    `${key}.required=true`,
  ];
}

/** Git hands the line to a shell; every word but the placeholders, which Git quotes itself, stands in single quotes. */
function commandLine({ program, words }: DriverProgram, known: ReadonlySet<string>): string {
  if (!program.startsWith('/') || program.split('/').some((part) => part === '..' || part === '.')) {
    throw new TypeError('a program is named by its absolute path');
  }
  return [quote(program), ...words.map((word) => (known.has(word) ? word : quote(word)))].join(' ');
}

function quote(word: string): string {
  if (/[%\0\n]/.test(word)) throw new TypeError('a word of a driver holds what Git would replace or cut');
  return `'${word.replaceAll("'", "'\\''")}'`;
}
