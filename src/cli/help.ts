import type { Command } from './command.ts';

const common = [
  '  --state DIR   the state directory; default $WORKSPACE_AUTHORITY_HOME,',
  '                $XDG_STATE_HOME/workspace-authority, ~/.local/state/workspace-authority',
  '  --json        answer with one line of JSON',
  '  --help        this text',
];

export function generalHelp(commands: readonly Command[]): string {
  const lines = commands.map(({ name, usage, summary }) => {
    return `  ${[name, usage].filter((part) => part !== '').join(' ')}\n      ${summary}`;
  });
  return [
    'workspace-authority: serves exactly the directories registered with it.',
    '',
    'Usage: workspace-authority COMMAND [OPTIONS]',
    '',
    ...lines,
    '',
    'Each command takes:',
    ...common,
    '',
    'Exit code: 0, 1 refused or failed, 2 usage.',
  ].join('\n');
}

export function commandHelp({ name, usage, summary, help }: Command): string {
  return [
    `Usage: workspace-authority ${[name, usage].filter((part) => part !== '').join(' ')}`,
    '',
    summary,
    '',
    ...(help ?? []),
    ...common,
  ].join('\n');
}
