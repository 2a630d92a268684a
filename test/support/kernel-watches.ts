import { readdir, readFile } from 'node:fs/promises';

/** Watches of inotify(7) that this process has in the kernel. */
export async function kernelWatches(): Promise<number> {
  let count = 0;
  for (const descriptor of await readdir('/proc/self/fdinfo')) {
    const facts = await readFile(`/proc/self/fdinfo/${descriptor}`, 'latin1').catch(() => '');
    count += facts.split('\n').filter((line) => line.startsWith('inotify wd:')).length;
  }
  return count;
}
