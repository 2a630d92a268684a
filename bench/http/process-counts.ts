import { readdir, readFile } from 'node:fs/promises';

/** What a process holds, seen from outside (proc(5)). */
export interface ProcessCounts {
  readonly descriptors: number;
  readonly children: number;
}

export async function countsOf(pid: number): Promise<ProcessCounts> {
  const [descriptors, tasks] = await Promise.all([readdir(`/proc/${pid}/fd`), readdir(`/proc/${pid}/task`)]);
  const lists = await Promise.all(
    tasks.map((task) => readFile(`/proc/${pid}/task/${task}/children`, 'utf8').catch(() => '')),
  );
  const children = lists.flatMap((list) => list.split(' ').filter((child) => child !== ''));
  return { descriptors: descriptors.length, children: children.length };
}
