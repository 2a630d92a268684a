/** Starts the background build of nodegit of the project at argv[2], and prints the state that came of it. */
import { join } from 'node:path';

const { startNodegitBuild } = await import(join(process.argv[2], 'scripts/nodegit.mjs'));
console.log(JSON.stringify(startNodegitBuild()));
