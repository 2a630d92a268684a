/**
 * The packages that a manifest and its lock file name, installed once into this user's cache, and never into the checkout: the tests run a real
 * host from there.
 *
 *   node scripts/ci/dsh-host.mjs DIRECTORY [NPM WORDS]   prints {"directory": where node_modules lies}
 *
 * Without words it is `npm ci`. Where the lock file lacks packages of other platforms, npm takes it with `install` only.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { cacheRoot, environmentForNpm, npmCommand } from '../host.mjs';
import { assertPrivateRoot } from '../nodegit/entry.mjs';

const files = ['package.json', 'package-lock.json'];

export function installHost(source, words = ['ci']) {
  const root = cacheRoot();
  const hash = createHash('sha256');
  for (const file of files) hash.update(readFileSync(join(source, file)));
  const directory = join(root, `dsh-${hash.digest('hex').slice(0, 32)}`);
  if (existsSync(directory)) return directory;
  mkdirSync(root, { recursive: true, mode: 0o700 });
  assertPrivateRoot(root);
  // Complete under another name first, so that the entry is whole or not there, whoever else installs it too.
  const unfinished = mkdtempSync(`${directory}.`);
  try {
    for (const file of files) copyFileSync(join(source, file), join(unfinished, file));
    const [program, ...leading] = npmCommand();
    const args = [...leading, ...words, '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'];
    const { status, error } = spawnSync(program, args, {
      cwd: unfinished,
      env: environmentForNpm(),
      stdio: ['ignore', 2, 2],
    });
    if (status !== 0) throw new Error(`npm could not install the packages of ${source}`, { cause: error });
    renameSync(unfinished, directory);
  } catch (thrown) {
    rmSync(unfinished, { recursive: true, force: true });
    if (thrown.code !== 'ENOTEMPTY' && thrown.code !== 'EEXIST') throw thrown;
  }
  return directory;
}

if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === import.meta.filename) {
  const [source, ...words] = process.argv.slice(2);
  const directory = installHost(resolve(source), words.length > 0 ? words : undefined);
  process.stdout.write(`${JSON.stringify({ directory })}\n`);
}
