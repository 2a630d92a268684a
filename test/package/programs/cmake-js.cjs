// Stands for cmake-js: `build` records its arguments and leaves the products of a build.
const { appendFileSync, mkdirSync, writeFileSync } = require('node:fs');

if (process.argv[2] !== 'build') process.exit(0);
const out = process.argv[process.argv.indexOf('--out') + 1];
const options = process.argv.slice(2).filter((argument) => argument.startsWith('--CD'));
appendFileSync(process.env.FAKE_LOG, `cmake-js ${[out, ...options].join(' ')}\n`);
mkdirSync(`${out}/Release`, { recursive: true });
for (const product of ['workspace_authority.node', 'death-guard'])
  writeFileSync(`${out}/Release/${product}`, 'built');
