import { writeFileSync } from 'node:fs';
import { startNodegitProcess } from '../../src/proof/nodegit-process.ts';

/** A host program that has a nodegit child and is killed: nodegit-host <death guard> <nodegit> <file for the process ids> */
const [deathGuard, nodegit, file] = process.argv.slice(2) as [string, string, string];
const child = startNodegitProcess(
  { deathGuard, nodegit },
  { onMessage: () => writeFileSync(file, JSON.stringify([child.pid])), onEnd: () => process.exit(1) },
);
setInterval(() => undefined, 60_000);
