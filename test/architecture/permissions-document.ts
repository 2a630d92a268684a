import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { builtinRules } from './rooms.ts';
import { projectRoot, readSources } from './source-files.ts';

const introduction = `# What the plugin for DeepSeek Harness may do

For whoever decides whether to load it. The lists are made from the command tables, the rules of imports and the sources;
\`npx vitest run test/architecture/permissions.test.ts --update\` writes them anew, and a test fails while they are not current. [dsh](dsh.md) says how the plugin is
installed and configured.

It needs no secret and reads none of the host: credentials for other machines are only those that its configuration names. It opens no port; as the plugin is set up, only Git speaks to
other machines, by the protocols of the configuration. It writes below registered workspaces and their worktrees, in the Git directories of those repositories, and in its state
directory.
`;

export interface CommandTable {
  readonly name: string;
  readonly file: string;
}

/** All tables of Git commands that there are, those that change something last. */
export const commandTables: readonly CommandTable[] = readSources()
  .filter(({ path }) => path.startsWith('git/'))
  .flatMap(({ path, text }) =>
    [...text.matchAll(/^export const (\w+Commands) = \{$/gm)].map(([, name]) => ({
      name: name ?? '',
      file: path,
    })),
  )
  .toSorted((left, right) => rank(left) - rank(right));

const titles: Readonly<Record<string, string>> = {
  proofCommands: 'Proofs: read facts about a repository',
  readCommands: 'Reads: take no lock, write nothing',
  writeCommands: 'Changes: only when a client asked for one',
};

function rank({ name }: CommandTable): number {
  const at = ['proofCommands', 'readCommands', 'writeCommands'].indexOf(name);
  return at === -1 ? 3 : at;
}

export interface CommandRow {
  readonly name: string;
  /** Of Git. */
  readonly subcommand: string;
  /** Whether it may speak to another machine. */
  readonly network: boolean;
  /** The first sentence that the table says about it. */
  readonly meaning: string;
}

/** The rows of a table as its source has them, in order. */
export function commandRows({ name: table, file }: CommandTable): readonly CommandRow[] {
  const source = readFileSync(join(projectRoot, 'src', file), 'utf8');
  const rows = new RegExp(`export const ${table} = \\{\\n(.*?)\\n\\}`, 's').exec(source)?.[1] ?? '';
  const starts = [...rows.matchAll(/^ {2}(\w+): \(/gm)];
  return starts.map((start, index) => {
    const body = rows.slice(start.index, starts[index + 1]?.index);
    const before = rows.slice(starts[index - 1]?.index ?? 0, start.index);
    const subcommand = /(?:words: |'[a-z-]+',\s*)\[\s*'([a-z][a-z-]+)'/.exec(body)?.[1] ?? '';
    return {
      name: start[1] ?? '',
      subcommand,
      network: /networkEnvironment|network/.test(body),
      meaning: firstSentence(/\/\*\*((?:(?!\/\*\*).)*?)\*\/\s*$/s.exec(before)?.[1] ?? ''),
    };
  });
}

/** The services of the host that the plugin asks for by name, with the members that it calls or reads there. */
export function hostServices(): readonly string[] {
  const text = readSources()
    .filter(({ path }) => path.startsWith('dsh/'))
    .map((source) => source.text)
    .join('\n');
  const names = [...text.matchAll(/\.get\('(\w+)'\)/g)].map(([, name]) => name ?? '');
  return [
    ...new Set([...names, ...(text.includes('context.webServer.register') ? ['webServer'] : [])]),
  ].sort();
}

/** The whole of docs/dsh-permissions.md. */
export function permissionsDocument(): string {
  const sections = commandTables.map((table) => {
    const rows = commandRows(table).map(
      ({ name, subcommand, network, meaning }) =>
        `| \`${name}\` | \`git ${subcommand}\` | ${network ? 'yes' : ''} | ${meaning} |`,
    );
    return [
      `### ${titles[table.name] ?? table.name}`,
      '',
      '| row | command | network | what for |',
      '|---|---|---|---|',
      ...rows,
      '',
    ].join('\n');
  });
  const builtins = Object.entries(builtinRules).map(
    ([name, places]) => `| \`${name}\` | ${places.map((place) => `\`src/${place}\``).join(', ')} |`,
  );
  return [
    introduction,
    '## Services of the host\n',
    'Asked at use. The plugin changes nothing there but the one route that it adds and takes away, and the rows of `workspaceRegistry` for managed worktrees: it\n' +
      'creates them, and deletes them by the id that they had before the worktree went.\n',
    ...hostServices().map((name) => `- \`${name}\``),
    '',
    '## Git\n',
    'Every command is of a table below, with the limits and settings of [Git](git.md).\n',
    ...sections,
    '## Reaching outside the process\n',
    'Node modules that can, and the only files of the package that use them. Files below workspaces are reached by the native addon.\n',
    '| module | files |',
    '|---|---|',
    ...builtins,
    '',
  ].join('\n');
}

function firstSentence(comment: string): string {
  const text = comment
    .replace(/^\s*\*/gm, '')
    .replace(/\s+/g, ' ')
    .trim();
  return (/^.*?[.](?= |$)/.exec(text)?.[0] ?? text).replaceAll('|', '\\|');
}
