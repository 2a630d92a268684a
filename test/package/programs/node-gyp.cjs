// Stands for node-gyp: records that it ran in nodegit's directory and leaves a binary.
const { appendFileSync, mkdirSync, writeFileSync } = require('node:fs');

appendFileSync(process.env.FAKE_LOG, `node-gyp ${process.argv[2]}\n`);
mkdirSync('build/Release', { recursive: true });
writeFileSync('build/Release/nodegit.node', 'built');
