import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { commandRows, commandTables, hostServices, permissionsDocument } from './permissions-document.ts';
import { projectRoot } from './source-files.ts';

describe('the permission sheet of the plugin', () => {
  it('is what the tables and sources say now', async () => {
    await expect(permissionsDocument()).toMatchFileSnapshot(join(projectRoot, 'docs/dsh-permissions.md'));
  });

  it.each(commandTables)('names every command of $name', async (table) => {
    const module = await import(`../../src/${table.file}`);
    expect(commandRows(table).map(({ name }) => name)).toEqual(Object.keys(module[table.name]));
  });

  it('marks what speaks to other machines', () => {
    const rows = commandTables.flatMap(commandRows);
    const speaking = rows.filter(({ network }) => network).map(({ subcommand }) => subcommand);
    expect(speaking).toEqual(expect.arrayContaining(['fetch', 'push']));
    const known = ['fetch', 'push', 'pull', 'clone', 'ls-remote'];
    expect(rows.filter(({ subcommand, network }) => known.includes(subcommand) && !network)).toEqual([]);
  });

  it('names the services that the plugin asks for', () => {
    expect(hostServices()).toEqual([
      'connection',
      'sessionPersistence',
      'sessionProjections',
      'sessionQuery',
      'sessions',
      'webServer',
      'workingDirectory',
      'workspaceRegistry',
    ]);
  });
});
