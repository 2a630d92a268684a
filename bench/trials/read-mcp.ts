import {
  readFileContent,
  setAllowedDirectories,
  validatePath,
} from '@modelcontextprotocol/server-filesystem/dist/lib.js';
import { parseBeneathPath } from 'workspace-authority';
import type { Cleanup } from '../harness/cleanup.ts';
import type { Contest } from '../harness/trial.ts';
import { readContest } from '../sides/read-contest.ts';

/** Its read answers text, so ours decodes as well. */
export function prepare(cleanup: Cleanup, depth: number): Promise<Contest> {
  return readContest(cleanup, {
    depth,
    size: 4096,
    width: 1,
    ours({ workspace: { service, capability } }) {
      return async (target) => {
        const { bytes } = await service.files.read(capability, parseBeneathPath(target.relativePath));
        return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
      };
    },
    theirs({ workspace }) {
      setAllowedDirectories([workspace.root]);
      return async (target) => readFileContent(await validatePath(target.absolutePath));
    },
  });
}
