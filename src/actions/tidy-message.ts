import type { CommitMessage } from '../git/values.ts';

/**
 * Leaves out white space that ends lines, empty lines around the message, and all but one of several empty lines, as `git commit` does
 * with `--cleanup=whitespace`. A line that begins with `#` stays.
 */
export function tidyMessage(message: CommitMessage): CommitMessage {
  const lines = message.split('\n').map((line) => line.trimEnd());
  const kept = lines.filter((line, index) => line !== '' || (index > 0 && lines[index - 1] !== ''));
  if (kept[0] === '') kept.shift();
  if (kept.at(-1) === '') kept.pop();
  return `${kept.join('\n')}\n` as CommitMessage;
}
