import { createGitRunner } from '../../src/git/run-git.ts';

/** A host program that runs one command and is killed while it does: git-host <death guard> <program> <argument...> */
const [deathGuard, gitProgram, ...words] = process.argv.slice(2) as [string, string, ...string[]];
const runner = createGitRunner({ deathGuard, gitProgram });
await runner.run({
  name: 'hosted',
  arguments: words,
  environment: { PATH: '/usr/bin:/bin' },
  directory: '/',
  deadlineMs: 60_000,
  dataLimitBytes: 2 ** 30,
  outputLimitBytes: 1024,
});
