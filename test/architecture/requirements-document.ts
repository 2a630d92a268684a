import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { filesBelow, projectRoot } from './source-files.ts';

/** The clauses this package must satisfy, in one sentence each. A clause without tests is one that is not built yet. */
export const clauses: Readonly<Record<string, string>> = {
  R01: 'Outer authentication says who calls, never where a call may act.',
  R02: 'A selector is the exact canonical root of a registered workspace, or a proven worktree; nothing else is authorised.',
  R03: 'A subdirectory is no selector, and a registered one never lends the repository around it.',
  R04: 'A registry, guard, metadata file, forge or Git answer that cannot be read is a refusal.',
  R05: 'A registered path that was rebound loses authority.',
  R06: 'A capability pins and holds identities, proven again after any wait and before every commit point.',
  R10: 'File paths are relative to the root, contained lexically and canonically, and name an opened regular file.',
  R11: 'A link that leads outside is refused; one that stays inside may be read, never written through.',
  R12: 'Git administration is refused however it is reached.',
  R13: 'Commits are serialised per file and name the version they are based on; a stale base changes nothing.',
  R14: 'A commit is an atomic exchange with the displaced file verified; no foreign write is lost.',
  R15: 'A temporary or recovery file is deleted only while its inode belongs to the transaction.',
  R16: 'Where names cannot be exchanged atomically, the commit is refused and nothing is changed.',
  R20: 'No request field is ever a free-form Git argument.',
  R21: 'The identity of a pull request comes from the forge at that moment.',
  R22: 'Merge-to-base is the only write that crosses roots.',
  R25: 'The managed roots are direct canonical directories, verified again before each use.',
  R26: 'Forged or damaged metadata never makes a managed worktree.',
  R27: 'Nothing is deleted whose ownership is unknown or while the session guard cannot be read.',
  R28: 'A session occupies a worktree by its header directory and by its current one, until it closes.',
  R30: 'A linked worktree is selected by its canonical root.',
  R31: 'It must be a live row of the worktree list of its main checkout.',
  R32: 'That main checkout must itself be registered.',
  R33: 'A linked worktree lends its Git, but archive and cleanup need managed metadata.',
  R34: 'Subdirectories, fabricated `.git` files, prunable rows and foreign worktrees stay unauthorised.',
  R40: 'Changes are accepted only as same-origin application/json.',
  R41: 'Existing clients can parse every answer, and failures have the matching status.',
};

const introduction = `# Requirements and the tests that prove them

Each clause is followed by the files whose test titles name it.
This page is made from the titles; \`npx vitest run test/architecture/requirements.test.ts --update\` writes it anew. A clause marked
*not built yet* has no tests because the product does not offer what it speaks of.
`;

/** Clause to the files whose titles name it. */
export function provenClauses(): ReadonlyMap<string, ReadonlySet<string>> {
  const proven = new Map<string, Set<string>>();
  for (const path of filesBelow('test', /\.test\.ts$/)) {
    const text = readFileSync(join(projectRoot, path), 'utf8');
    for (const [, title] of text.matchAll(/['"`]((?:R\d\d(?:, )?)+)(?:, W\d\d)*: /g)) {
      for (const clause of title?.split(', ') ?? []) {
        proven.set(clause, (proven.get(clause) ?? new Set()).add(path));
      }
    }
  }
  return proven;
}

/** The whole of docs/requirements.md. */
export function requirementsDocument(): string {
  const proven = provenClauses();
  const sections = Object.entries(clauses).map(([clause, sentence]) => {
    const rows = [...(proven.get(clause) ?? [])].map((path) => `- [${path}](../${path})`);
    return [`## ${clause}`, '', sentence, '', ...(rows.length > 0 ? rows : ['*not built yet*']), ''].join(
      '\n',
    );
  });
  return [introduction, ...sections].join('\n');
}
