/** Remembers from which inputs a step made its outputs, by content, so that time stamps and clones do not matter. */
import { createHash } from 'node:crypto';
import { lstatSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A digest over files and directories (their names and contents) and plain facts; absence is a value, too. */
export function digestOf(root, paths, facts = {}) {
  const digest = createHash('sha256').update(JSON.stringify(facts));
  for (const path of paths) addPath(digest, join(root, path), path);
  return digest.digest('hex');
}

function addPath(digest, path, name) {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat?.isDirectory()) {
    for (const child of readdirSync(path).sort()) addPath(digest, join(path, child), `${name}/${child}`);
    return;
  }
  const content = stat?.isFile() ? readFileSync(path) : '';
  digest.update(`\0${name}\0${stat ? content.length : 'absent'}\0`).update(content);
}

/** The stamp of one step under `.setup/`: `current()` digests its inputs and outputs as they are now. */
export function stamp(root, name, current) {
  const path = join(root, '.setup', name);
  return {
    isFresh: () => recorded(path) === current(),
    record: () => {
      mkdirSync(join(root, '.setup'), { recursive: true });
      writeFileSync(`${path}.new`, current());
      renameSync(`${path}.new`, path);
    },
  };
}

function recorded(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
