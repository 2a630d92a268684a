import { constants } from 'node:os';
import { afterEach, describe, expect, it } from 'vitest';
import { isKeptName, isReservedName } from '../../src/capability/transaction-name.ts';
import { type AuthorityError, isAuthorityError } from '../../src/errors/index.ts';
import { versionOf } from '../../src/files/content-version.ts';
import { beneath, openWorkspace, text, type Workspace } from '../support/files-workspace.ts';
import { testBinding } from '../support/test-binding.ts';

const base = { sha1: versionOf(text('old')).sha1 };

const operations = {
  replace: {
    run: ({ files, capability }: Workspace) => files.replace(capability, beneath('f'), text('new'), base),
    old: ['f: old'],
    new: ['f: new'],
  },
  create: {
    run: ({ files, capability }: Workspace) => files.create(capability, beneath('g'), text('new')),
    old: ['f: old'],
    new: ['f: old', 'g: new'],
  },
  remove: {
    run: ({ files, capability }: Workspace) => files.remove(capability, beneath('f'), base),
    old: ['f: old'],
    new: [],
  },
  rename: {
    run: ({ files, capability }: Workspace) => files.rename(capability, beneath('f'), beneath('g')),
    old: ['f: old'],
    new: ['g: old'],
  },
  mkdir: {
    run: ({ files, capability }: Workspace) => files.makeDirectory(capability, beneath('d')),
    old: ['f: old'],
    new: ['d/', 'f: old'],
  },
} as const;
type Operation = keyof typeof operations;

/** Code of each errno, at a call where it is not overcome. */
const codes = { ENOSPC: 'no_space', EDQUOT: 'no_space', EIO: 'storage_failed' } as const;
type Errno = keyof typeof codes;

afterEach(() => testBinding.setFault(null));

/** A workspace in which everything that happens once has happened: the trial of the exchange and the sweep of the directory. */
async function openWarm(): Promise<Workspace> {
  const workspace = await openWorkspace({ tree: ['f: old'] });
  await workspace.held.exchangeSupport();
  await workspace.files.list(workspace.capability, null);
  return workspace;
}

async function traceOf(operation: Operation): Promise<readonly string[]> {
  const workspace = await openWarm();
  testBinding.setFault(null);
  await operations[operation].run(workspace);
  return testBinding.faultTrace();
}

function withoutKept(tree: readonly string[]): readonly string[] {
  return tree.filter((line) => !isKeptName(line.slice(0, line.indexOf(': '))));
}

const rows = (Object.keys(operations) as Operation[]).flatMap((operation) =>
  (Object.keys(codes) as Errno[]).flatMap((errno) =>
    (['before', 'after'] as const).map((when) => [operation, errno, when] as const),
  ),
);

describe('storage that fails', () => {
  it.each(rows)(
    'write-enospc, R14, R15: %s, with %s %s each of its calls',
    async (operation, errno, when) => {
      const { run, old: before, new: after } = operations[operation];
      const trace = await traceOf(operation);
      expect(trace.length).toBeGreaterThan(2);
      for (const [index, syscall] of trace.entries()) {
        const at = `${when} call ${index + 1} of ${trace.length}, ${syscall}`;
        const workspace = await openWarm();
        testBinding.setFault({
          syscall: '*',
          occurrence: index + 1,
          when,
          action: { errno: constants.errno[errno] },
        });
        const refusal = await run(workspace).then(
          () => null,
          (error: AuthorityError) => error,
        );
        testBinding.setFault(null);
        const tree = await workspace.tree();
        if (refusal === null || refusal.details['inPlace'] === true) {
          expect(withoutKept(tree).filter(isVisible), at).toEqual(after);
        } else {
          expect(tree.filter(isVisible), at).toEqual(before);
        }
        if (refusal !== null) {
          expect(isAuthorityError(refusal), at).toBe(true);
          // Whether somebody has the file open could not be found out, which is no proof that nobody has.
          const allowed = syscall === 'fcntl' ? [codes[errno], 'file_busy'] : [codes[errno]];
          expect(allowed, at).toContain(refusal.code);
        }
        // What could not be cleaned up then is cleaned up later, also by the process that left it.
        const report = await workspace.files.recover(workspace.capability);
        expect(report.complete, at).toBe(true);
        expect(
          (await workspace.tree()).filter((line) => !isVisible(line)),
          at,
        ).toEqual([]);
        expect(withoutKept(await workspace.tree()), at).toEqual(withoutKept(tree).filter(isVisible));
        await workspace.capability[Symbol.asyncDispose]();
      }
    },
  );
});

function isVisible(line: string): boolean {
  return !isReservedName(line.split(': ')[0] as string);
}
