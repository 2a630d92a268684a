import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const script = fileURLToPath(new URL('repository-zoo.sh', import.meta.url));

export interface ZooCase {
  readonly label: string;
  /** As bytes: one layout's name is not UTF-8. */
  readonly path: Buffer;
  /** What the script's author holds right for a prover of all kinds. */
  readonly verdict: string;
}

/** Builds every layout below `place` and reads the list of them. */
export async function buildZoo(place: string): Promise<readonly ZooCase[]> {
  const zoo = join(place, 'zoo');
  await promisify(execFile)('bash', [script, zoo]);
  const fields = splitAtNul(await readFile(join(zoo, 'manifest')));
  const cases: ZooCase[] = [];
  for (let index = 0; index + 2 < fields.length; index += 3) {
    const [label, path, verdict] = fields.slice(index, index + 3) as [Buffer, Buffer, Buffer];
    cases.push({ label: label.toString(), path, verdict: verdict.toString() });
  }
  return cases;
}

function splitAtNul(bytes: Buffer): Buffer[] {
  const fields: Buffer[] = [];
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(0, start);
    fields.push(bytes.subarray(start, end));
    start = end + 1;
  }
  return fields;
}
