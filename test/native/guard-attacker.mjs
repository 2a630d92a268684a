// Changes what a/b/f leads to, for ever, so that 'secret' stands there only while its directory is closed.
// usage: guard-attacker.mjs ADDON ROOT ATTACK
import { closeSync, openSync, renameSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const [addon, root, attack] = process.argv.slice(2);
const at = (path) => join(root, path);
const directory = await createRequire(import.meta.url)(addon).openRoot(root, {});

/** In place, and of one length, so that nothing but the content changes. */
function overwrite(path, content) {
  const fd = openSync(at(path), 'r+');
  writeSync(fd, content.padEnd(6), 0);
  closeSync(fd);
}

const attacks = {
  // renameat2 with RENAME_EXCHANGE wants both names in one directory here.
  'exchange-parent': async () => {
    renameSync(at('git'), at('a/git'));
    return () => directory.exchange('a/b', 'git');
  },
  'exchange-ancestor': async () => () => directory.exchange('a', 'git'),
  'become-closed': async () => {
    for (const name of ['objects', 'refs']) writeFileSync(at(`a/b/${name}`), '');
    return () => {
      writeFileSync(at('a/b/HEAD'), '');
      overwrite('a/b/f', 'secret');
      overwrite('a/b/f', 'open');
      rmSync(at('a/b/HEAD'));
    };
  },
  'rename-in-and-out': async () => () => {
    renameSync(at('a'), at('away'));
    renameSync(at('git'), at('a'));
    renameSync(at('a'), at('git'));
    renameSync(at('away'), at('a'));
  },
};

const step = await attacks[attack]();
process.stdout.write('ready');
for (;;) await step();
