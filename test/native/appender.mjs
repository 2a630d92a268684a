// Appends numbered lines to a file, opening it for each, until its standard input closes; then prints how many. Waits at
// whatever lease it meets. Argument: path.
import { closeSync, constants, openSync, writeSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';

const [path] = process.argv.slice(2);
let open = true;
process.stdin.on('end', () => {
  open = false;
});
process.stdin.resume();
console.log('ready');
let lines = 0;
while (open) {
  // Without O_CREAT: the appender writes to the file that is there, and the name always leads to one.
  const fd = openSync(path, constants.O_WRONLY | constants.O_APPEND);
  writeSync(fd, `line ${lines}\n`);
  closeSync(fd);
  lines++;
  await setTimeout(1);
}
console.log(lines);
