/** Prints where the set-up of the project at argv[2] keeps the built nodegit, as JSON. */
import { join } from 'node:path';

const { entryPaths } = await import(join(process.argv[2], 'scripts/nodegit/entry.mjs'));
console.log(JSON.stringify(entryPaths()));
