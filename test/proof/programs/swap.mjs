/** Exchanges two names again and again until it is killed: swap.mjs <first> <second>. Says `ready` after the first exchange. */
import { renameSync } from 'node:fs';

const [first, second] = process.argv.slice(2);
const aside = `${first}.aside`;

function swap() {
  renameSync(first, aside);
  renameSync(second, first);
  renameSync(aside, second);
}

swap();
swap();
process.stdout.write('ready\n');
for (;;) swap();
