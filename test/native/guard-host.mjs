// A host: runs a command under the guard and waits. Arguments: guard, command and its arguments.
// Its standard input and output are the command's; it ends when the command does.
import { spawn } from 'node:child_process';

const [guard, ...command] = process.argv.slice(2);
const child = spawn(guard, ['3', ...command], { stdio: ['inherit', 'inherit', 'inherit', 'pipe'] });
child.on('exit', (code) => process.exit(code ?? 1));
