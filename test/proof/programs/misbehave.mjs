/** Stands in for Git and does one bad thing: misbehave.mjs <what> [argument]. */
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';

const [what, argument] = process.argv.slice(2).filter((word) => word !== '--');

/** Runs until it is killed. */
function stay() {
  setInterval(() => {}, 1_000_000);
}

const deeds = {
  exit: () => process.exit(Number(argument)),
  print: () => process.stdout.write('x'.repeat(Number(argument))),
  complain: () => process.stderr.write('y'.repeat(Number(argument))),
  environment: () => process.stdout.write(JSON.stringify(process.env)),
  directory: () => process.stdout.write(process.cwd()),
  input: async () => {
    let size = 0;
    for await (const chunk of process.stdin) size += chunk.length;
    process.stdout.write(String(size));
  },
  stay,
  /** Starts a grandchild that ignores what can be ignored, tells both ids in the file, and stays. */
  breed: () => {
    const code = 'process.on("SIGTERM",()=>{});process.on("SIGHUP",()=>{});setInterval(()=>{},1e6)';
    const child = spawn(process.execPath, ['-e', code], { detached: true, stdio: 'inherit' });
    writeFileSync(argument, JSON.stringify([process.pid, child.pid]));
    stay();
  },
  /** Ends at once and leaves a grandchild that holds the pipes open. */
  abandon: () => {
    const child = spawn(process.execPath, ['-e', 'setInterval(()=>{},1e6)'], {
      detached: true,
      stdio: 'inherit',
    });
    writeFileSync(argument, JSON.stringify([child.pid]));
    child.unref();
  },
  die: () => process.kill(process.pid, 'SIGSEGV'),
};

await deeds[what]();
