// Child of the build: argv = nodegit's directory, an empty directory. Exits 0 when nodegit opens a repository.
const { mkdirSync, writeFileSync, realpathSync } = require('node:fs');
const { join } = require('node:path');

const [nodegitDirectory, scratch] = process.argv.slice(2);
const workdir = join(scratch, 'repository');
for (const part of ['.git/objects', '.git/refs/heads']) mkdirSync(join(workdir, part), { recursive: true });
writeFileSync(join(workdir, '.git/HEAD'), 'ref: refs/heads/main\n');
writeFileSync(join(workdir, '.git/config'), '[core]\n\trepositoryformatversion = 0\n\tbare = false\n');

const nodegit = require(nodegitDirectory);
nodegit.Repository.openExt(workdir, 1, '').then((repository) => {
  const expected = `${realpathSync(workdir)}/`;
  if (repository.workdir() !== expected) throw new Error(`opened ${repository.workdir()} for ${expected}`);
});
