import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

const long = process.env['WORKSPACE_AUTHORITY_LONG'] === '1';
const second = 1000;
const minute = 60 * second;

/** How long one test of a folder may take, and how long when the run is at full length. */
const limits: Readonly<Record<string, { readonly fast: number; readonly long: number }>> = {
  unit: { fast: 20 * second, long: minute },
  crash: { fast: 3 * minute, long: 60 * minute },
  race: { fast: 3 * minute, long: 60 * minute },
  fuzz: { fast: 3 * minute, long: 60 * minute },
  // The first test on a machine installs the packages of a host.
  dsh: { fast: 3 * minute, long: 10 * minute },
  package: { fast: 3 * minute, long: 10 * minute },
};
const usual = { fast: minute, long: 10 * minute };

// Every folder that holds tests is a project, so that none can be forgotten.
const folders = readdirSync(join(import.meta.dirname, 'test'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map((entry) => entry.name);

export default defineConfig({
  test: {
    // The addon keeps handles and threads per process; a test file must not meet those of another.
    pool: 'forks',
    projects: folders.map((name) => {
      const limit = limits[name] ?? usual;
      return {
        extends: true as const,
        test: {
          name,
          include: [`test/${name}/**/*.test.ts`],
          testTimeout: long ? limit.long : limit.fast,
          hookTimeout: limit.fast,
        },
      };
    }),
    coverage: { provider: 'v8', include: ['src/**/*.ts'], reporter: ['text-summary', 'html'] },
  },
});
