// Stands for tsc: records that it ran and compiles nothing into the directory asked for.
const { appendFileSync, mkdirSync, writeFileSync } = require('node:fs');

const out = process.argv[process.argv.indexOf('--outDir') + 1];
appendFileSync(process.env.FAKE_LOG, 'tsc\n');
mkdirSync(out, { recursive: true });
writeFileSync(`${out}/index.js`, '');
