import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

/** Makes one program of a file of this folder and all it imports, so that a process of its own can run it. Returns its path. */
export async function bundleProgram(name: string, directory: string): Promise<string> {
  await build({
    configFile: false,
    logLevel: 'warn',
    build: {
      ssr: fileURLToPath(new URL(name, import.meta.url)),
      outDir: directory,
      emptyOutDir: false,
      rollupOptions: { output: { entryFileNames: '[name].mjs' } },
    },
  });
  return join(directory, `${basename(name, '.ts')}.mjs`);
}
