/**
 * Stands for npm in tests of the set-up: records that it ran, waits at the gate when there is one, and lays down
 * tools that record themselves, too. FAKE_LOG, FAKE_GATE and FAKE_FAILURE come from the test.
 */
import { appendFileSync, cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';

const { FAKE_LOG, FAKE_GATE, FAKE_FAILURE } = process.env;
const { name } = JSON.parse(readFileSync('package.json', 'utf8'));
appendFileSync(FAKE_LOG, `npm ${process.argv.slice(2, 4).join(' ')} (${name})\n`);
while (FAKE_GATE && !existsSync(FAKE_GATE)) await setTimeout(5);
// Whoever took over from a killed builder has removed this directory.
if (!existsSync('package.json')) process.exit(1);
if (FAKE_FAILURE) {
  console.error(FAKE_FAILURE);
  process.exit(1);
}

const programs = import.meta.dirname;
function lay(path, program) {
  mkdirSync(dirname(path), { recursive: true });
  cpSync(join(programs, program), path);
}

if (name === 'workspace-authority') {
  lay('node_modules/cmake-js/bin/cmake-js', 'cmake-js.cjs');
  lay('node_modules/typescript/bin/tsc', 'tsc.cjs');
  writeFileSync('node_modules/.package-lock.json', '{}');
} else {
  lay('node_modules/node-gyp/bin/node-gyp.js', 'node-gyp.cjs');
  lay('node_modules/nodegit/lib/nodegit.js', 'nodegit.cjs');
  for (const file of ['package.json', 'LICENSE']) {
    writeFileSync(`node_modules/nodegit/${file}`, '{ "main": "lib/nodegit.js" }');
  }
  for (const dependency of ['lodash', 'fs-extra', 'graceful-fs', 'jsonfile', 'universalify']) {
    mkdirSync(`node_modules/${dependency}`);
    writeFileSync(`node_modules/${dependency}/index.js`, '');
  }
}
