/**
 * The prebuilt files load on every system whose C library is at least this old. Newer symbols creep in unseen,
 * because the machine that builds always has them.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

const ceilings = { GLIBC: '2.28', GLIBCXX: '3.4.21', CXXABI: '1.3.11' };
const root = join(import.meta.dirname, '../../prebuilds');

const isNewer = (a, b) => a.localeCompare(b, 'en', { numeric: true }) > 0;

let files = 0;
for (const name of readdirSync(root, { recursive: true, withFileTypes: true })) {
  if (!name.isFile()) continue;
  files += 1;
  const path = join(name.parentPath, name.name);
  const { stdout, stderr, status } = spawnSync('objdump', ['-T', path], { encoding: 'utf8' });
  // A statically linked program needs no library at all.
  if (status !== 0 && !stderr.includes('not a dynamic object')) throw new Error(stderr);
  const needs = {};
  for (const [, library, version] of stdout.matchAll(/\((GLIBC|GLIBCXX|CXXABI)_([\d.]+)\)/g)) {
    if (isNewer(version, needs[library] ?? '0')) needs[library] = version;
  }
  console.log(path.slice(root.length + 1), needs);
  for (const [library, version] of Object.entries(needs)) {
    if (!isNewer(version, ceilings[library])) continue;
    console.error(`needs ${library}_${version}; at most ${library}_${ceilings[library]} is promised`);
    console.error(
      stdout
        .split('\n')
        .filter((line) => line.includes(`(${library}_${version})`))
        .join('\n'),
    );
    process.exitCode = 1;
  }
}
if (files === 0) throw new Error('there is no prebuilt file; pack first');
