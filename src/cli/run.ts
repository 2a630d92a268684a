import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { version } from '../index.ts';
import {
  type Command,
  exitRefused,
  exitUsage,
  type Invocation,
  type OptionTable,
  type Terminal,
  textOption,
  UsageError,
} from './command.ts';
import { commands } from './commands/index.ts';
import { describeFailure, printFailure } from './failure.ts';
import { commandHelp, generalHelp } from './help.ts';
import { printable } from './printable.ts';

const commonOptions: OptionTable = {
  state: { type: 'string' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
};

/** Runs one command line; answers with its exit code and never throws. */
export async function runCommandLine(words: readonly string[], output: Terminal): Promise<number> {
  const terminal: Terminal = {
    print: (line) => output.print(printable(line)),
    note: (line) => output.note(printable(line)),
  };
  const json = words.includes('--json');
  try {
    return await dispatch(words, terminal);
  } catch (error) {
    if (error instanceof UsageError) {
      terminal.note(`workspace-authority: ${error.message}`);
      terminal.note('Run workspace-authority --help for the commands.');
      return exitUsage;
    }
    printFailure(terminal, describeFailure(error), json);
    return exitRefused;
  }
}

async function dispatch(words: readonly string[], terminal: Terminal): Promise<number> {
  if (words[0] === '--version') {
    terminal.print(version);
    return 0;
  }
  const command = findCommand(words);
  if (command === undefined) {
    const asked = words[0] === '--help' || words[0] === '-h' || words[0] === 'help';
    if (!asked) throw new UsageError(words.length === 0 ? 'no command given' : 'there is no such command');
    terminal.print(generalHelp(commands));
    return 0;
  }
  const invocation = parse(command, words.slice(command.name.split(' ').length), terminal);
  if (invocation.values['help'] === true) {
    terminal.print(commandHelp(command));
    return 0;
  }
  const [least, most] = command.positionals;
  const { length } = invocation.positionals;
  if (length < least) throw new UsageError(`${command.name} needs: ${command.usage}`);
  if (length > most) throw new UsageError(`${command.name} takes no more than: ${command.usage}`);
  return (await command.run(invocation)) ?? 0;
}

/** The command whose one or two words the line begins with. */
function findCommand(words: readonly string[]): Command | undefined {
  return commands.find(({ name }) => name.split(' ').every((word, index) => word === words[index]));
}

function parse(command: Command, words: readonly string[], terminal: Terminal): Invocation {
  try {
    const { values, positionals } = parseArgs({
      args: [...words],
      options: { ...commonOptions, ...command.options },
      allowPositionals: true,
      strict: true,
    });
    const state = textOption(values, 'state');
    return {
      values,
      positionals,
      terminal,
      json: values['json'] === true,
      // A relative one is meant as the shell means it.
      stateDirectory: state === undefined ? undefined : resolve(state),
    };
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}
