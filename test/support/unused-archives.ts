import type { Archives } from '../../src/archive/archives.ts';

const unused = () => Promise.reject(new Error('nothing is to be archived here'));

/** For actions that keep nothing. */
export const unusedArchives: Archives = {
  write: unused,
  list: unused,
  open: unused,
  finish: unused,
  drop: unused,
  recover: unused,
};
