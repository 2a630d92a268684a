import { versionOf } from '../../src/files/content-version.ts';
import { beneath, text, type Workspace } from './files-workspace.ts';

/** The version that `changes` expect of the file. */
export const base = { sha1: versionOf(text('old')).sha1 };

/** One call of each operation that changes a workspace with `f: old` and `empty/` in it. */
export const changes = {
  replace: ({ files, capability }: Workspace) => files.replace(capability, beneath('f'), text('new'), base),
  create: ({ files, capability }: Workspace) => files.create(capability, beneath('g'), text('new')),
  remove: ({ files, capability }: Workspace) => files.remove(capability, beneath('f'), base),
  rename: ({ files, capability }: Workspace) => files.rename(capability, beneath('f'), beneath('g')),
  mkdir: ({ files, capability }: Workspace) => files.makeDirectory(capability, beneath('d')),
  rmdir: ({ files, capability }: Workspace) => files.removeDirectory(capability, beneath('empty')),
} as const;
