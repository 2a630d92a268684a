/** Before `npm pack` and `npm publish`: builds, and lays the release addon where pkg-prebuilds finds it. */
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { libcVersion } from './host.mjs';

const root = join(import.meta.dirname, '..');
const { name, napi_versions } = createRequire(import.meta.url)('../binding-options.cjs');

function run(...args) {
  const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: ['ignore', 2, 2] });
  if (status !== 0) process.exit(1);
}

run('scripts/setup.mjs', '--without-nodegit');
if (process.platform === 'linux') {
  // What an earlier pack of another version left must not be shipped.
  rmSync(join(root, 'prebuilds'), { recursive: true, force: true });
  const libc = libcVersion().startsWith('musl') ? 'musl' : 'glibc';
  const from = ['--baseDir', 'build/Release', '--source', `${name}.node`, '--extraFiles', 'death-guard'];
  const to = ['--name', name, '--napi_version', String(napi_versions[0]), '--libc', libc, '--strip'];
  run('node_modules/pkg-prebuilds/bin/copy.mjs', ...from, ...to);
}
