import type { ProverMode } from '../../src/proof/provers.ts';

/** One answer for every prover, or one for each. */
export type Answers = string | Readonly<Record<ProverMode, string>>;

/** What a layout of the zoo is granted or refused. */
export interface ZooAnswers {
  /** With a row of its own, which pins every identity there is. */
  readonly registered: Answers;
  /** Without one, while the main checkouts of `zooMainCheckouts` have theirs. */
  readonly unregistered: Answers;
}

export function answerFor(answers: Answers, mode: ProverMode): string {
  return typeof answers === 'string' ? answers : answers[mode];
}

const gone = 'workspace_not_authorized';
const silent = 'prover_unavailable';

function unsupported(reason: string): string {
  return `repository_unsupported: ${reason}`;
}

/** A worktree: its row makes it a workspace, that of its main checkout a linked worktree. */
const linked: ZooAnswers = { registered: 'workspace root', unregistered: 'linked-worktree root' };
const main: ZooAnswers = { registered: 'workspace root', unregistered: gone };
const nested: ZooAnswers = { registered: 'workspace nested', unregistered: gone };
const none: ZooAnswers = { registered: 'workspace none', unregistered: gone };
const nothing: ZooAnswers = { registered: gone, unregistered: gone };
const unlisted: ZooAnswers = refused('worktree-not-listed');
const noMain: ZooAnswers = refused('main-checkout-unknown');
const badMain: ZooAnswers = refused('main-checkout-unsupported');
const control: ZooAnswers = both('invalid_request: control character');

/** Refused by its reason where there is a row; without one the caller learns nothing. */
function refused(reason: string): ZooAnswers {
  return { registered: unsupported(reason), unregistered: gone };
}

/** The main checkout has claimed the directory by then, so the reason is no secret. */
function claimed(reason: string): ZooAnswers {
  return both(unsupported(reason));
}

function both(answers: Answers): ZooAnswers {
  return { registered: answers, unregistered: answers };
}

/** Git reads every file of all worktrees, and so hangs on a FIFO that libgit2 is not asked to open. */
function gitHangs({ registered, unregistered }: ZooAnswers): ZooAnswers {
  const hang = (answer: Answers) => {
    const other = answerFor(answer, 'nodegit');
    return { nodegit: other, git: silent, both: silent, auto: other };
  };
  return { registered: hang(registered), unregistered: hang(unregistered) };
}

/** Formats that libgit2 does not read: `other` where it would have to. */
function onlyGit(answer: string, other: string): Answers {
  return { nodegit: other, git: answer, both: other, auto: answer };
}

/** Git 2.39 takes a relative row for prunable. */
function onlyNodegit(answer: string): Answers {
  const other = unsupported('prover-disagrees');
  return { nodegit: answer, git: other, both: other, auto: answer };
}

/** Below the zoo; registered where nothing else is. */
export const zooMainCheckouts: readonly string[] = [
  ...['plain', 'plain/inner', 'super', 'super/sub', 'sep', 'm', 'other', 'bare.git', 'hidbare', 'confbare'],
  ...['m sp äö', 'rel', 'relx', 'cw', 'cw2', 'wc', 'wc2', 'cwl', 's256', 'pc'],
  ...['fifocd', 'fifogd', 'fifogd2', 'mm', 'mm2', 'fwt', 'foreign', 'wt-replrepo'],
];

/** The Git dir of each main checkout that has a separate one, both below the zoo. */
export const zooGitDirectories: Readonly<Record<string, string>> = {
  sep: 'sepgit',
  'absorbed/w': 'absorbed/.git-real',
};

export const zooAnswers: Readonly<Record<string, ZooAnswers>> = {
  plain: main,
  'nested-dir': nested,
  'dotgit-dir-itself': refused('git-directory'),
  'repo-in-repo': main,
  'embedded-bare-in-tree': refused('bare-repository'),
  'not-a-repo': none,
  'empty-dotgit': refused('git-directory-incomplete'),
  'empty-dotgit-inside-repo': refused('git-directory-incomplete'),
  // A spelling of the registered main checkout, unless a row stands on the spelling itself (R05).
  'symlink-to-main': { registered: gone, unregistered: 'workspace root' },
  submodule: refused('submodule'),
  'linked-of-super': linked,
  'worktree-of-submodule': noMain,
  'separate-git-dir': main,
  'linked-of-separate': noMain,
  'separate-inside': main,
  linked,
  'linked-subdir': nested,
  'admin-dir-itself': refused('git-directory'),
  'worktree-added-from-worktree': linked,
  'worktree-inside-worktree': linked,
  'worktree-inside-main': linked,
  'same-basename-2': linked,
  locked: linked,
  'locked-dir-gone': nothing,
  'locked-dotgit-gone': none,
  'prunable-dir-gone': nothing,
  'prunable-dotgit-gone': none,
  'prunable-replaced-by-empty-dir': none,
  'replaced-by-other-main': main,
  'moved-no-repair-new': unlisted,
  'moved-no-repair-old': nothing,
  'gitdir-file-points-elsewhere': unlisted,
  'dotgit-swapped-A': unlisted,
  'dotgit-swapped-B': unlisted,
  'copied-worktree-copy': unlisted,
  'copied-worktree-orig': linked,
  'fab-dotgit-to-foreign-admin': unlisted,
  'fab-dotgit-to-main-gitdir': refused('separate-git-dir'),
  'fab-forged-admin-outside': refused('git-directory-incomplete'),
  'fab-forged-admin-same-name': refused('git-directory-incomplete'),
  'commondir-to-other-repo': claimed('worktree-not-listed'),
  'admin-dir-is-symlink': unlisted,
  'bare-itself': refused('bare-repository'),
  'linked-of-bare': noMain,
  'bare-in-dotgit-root': refused('core-bare'),
  'linked-of-dotgit-bare': badMain,
  'core.bare-true-nonbare-layout': refused('core-bare'),
  'linked-of-core.bare-true': badMain,
  'path-spaces': linked,
  'path-nonascii': linked,
  'path-newline-middle': control,
  'path-newline-end': control,
  'path-space-end': claimed('path-not-supported'),
  'path-dash': linked,
  'path-quotes-backslash': linked,
  'main-path-nonascii': linked,
  'main-invalid-utf8': nothing,
  'symlinked-worktree-path': nothing,
  'symlinked-parent': nothing,
  'worktree-added-via-symlink-parent': linked,
  'dotgit-noncanonical-path': refused('git-file-malformed'),
  'dotgit-crlf': refused('git-file-malformed'),
  'dotgit-two-lines': refused('git-file-malformed'),
  'dotgit-symlink-to-dir': refused('git-entry-irregular'),
  'dotgit-symlink-to-file': refused('git-entry-irregular'),
  'relative-links-noext': {
    registered: onlyNodegit('workspace root'),
    unregistered: onlyNodegit('linked-worktree root'),
  },
  'relative-links-ext': badMain,
  'relative-links-ext-main': refused('relative-worktree-links'),
  'core.worktree-elsewhere': refused('core-worktree'),
  'core.worktree-target': none,
  'core.worktree-self': refused('core-worktree'),
  'worktreeConfig-core.worktree-main': refused('core-worktree'),
  'worktreeConfig-core.worktree-linked': claimed('core-worktree'),
  'core.worktree-in-common-linked': badMain,
  'sha256-main': {
    registered: onlyGit('workspace root', unsupported('format-needs-git')),
    unregistered: gone,
  },
  'sha256-linked': {
    registered: onlyGit('workspace root', unsupported('main-checkout-unsupported')),
    unregistered: onlyGit('linked-worktree root', gone),
  },
  'reftable-sim': refused('reftable'),
  'partialclone-ext': {
    registered: onlyGit('workspace root', unsupported('format-needs-git')),
    unregistered: gone,
  },
  'format-version-99': refused('format-version'),
  'unknown-extension': refused('extension'),
  'bad-config': refused('config-malformed'),
  'config-missing': refused('config-missing'),
  'include-missing': refused('config-include'),
  'include-self-loop': refused('config-include'),
  'HANG-config-fifo': refused('admin-file-irregular'),
  'HANG-include-fifo': refused('config-include'),
  'HANG-dotgit-fifo': refused('git-entry-irregular'),
  'HANG-commondir-fifo': gitHangs(claimed('admin-file-irregular')),
  // Without a row, no prover is asked before the main checkout is known to list the directory.
  'HANG-gitdir-fifo': {
    ...refused('admin-file-irregular'),
    registered: gitHangs(refused('admin-file-irregular')).registered,
  },
  'HANG-sibling-gitdir-fifo': gitHangs(linked),
  'huge-dotgit-3G-sparse': refused('git-file-malformed'),
  unborn: main,
  detached: main,
  'HEAD-garbage': refused('head-malformed'),
  'HEAD-empty': refused('head-malformed'),
  'refs-missing': refused('git-directory-incomplete'),
  'linked-HEAD-garbage': claimed('head-malformed'),
  'linked-HEAD-missing': claimed('head-malformed'),
  'main-moved': badMain,
  'main-moved-main': main,
  'foreign-owner-main': refused('foreign-owner'),
  'foreign-owner-linked': refused('foreign-owner'),
  'foreign-dotgit-only': refused('foreign-owner'),
  'foreign-wtdir-only': claimed('foreign-owner'),
};
