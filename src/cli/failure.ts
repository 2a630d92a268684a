import { type AuthorityError, type ErrorCode, isAuthorityError } from '../index.ts';
import type { Terminal } from './command.ts';

/** What a person can do about a refusal, by code. Where it depends on the fact that failed, the fact is printed above. */
const advice: Partial<Record<ErrorCode, string>> = {
  state_unavailable: 'Put the named file right or restore it; --state DIR chooses another state directory.',
  registry_unavailable:
    'Restore registry.json or put it right. Nothing is authorised until it can be read completely.',
  workspace_not_registrable:
    'Register a directory of your own by its canonical path (see `realpath`), outside Git directories.',
  workspace_owner_mismatch:
    'Run the server as the owner of the directory, or give the directory to the user it runs as.',
  workspace_already_registered:
    'Nothing needs to be done; `workspaces confirm PATH` renews its pinned identity.',
  workspace_not_found:
    '`workspaces list` shows what is registered; give the path exactly as it stands there.',
  workspace_not_authorized:
    '`explain PATH` shows which fact fails; `workspaces add PATH` registers a directory.',
  repository_identity_changed:
    'If the change was intended, `workspaces confirm PATH` accepts what stands there now.',
  identity_changed:
    'If the directory was replaced on purpose, `workspaces confirm PATH` accepts what stands there now.',
  repository_unsupported: 'The named property of the repository must go, or register another directory.',
  kernel_capability_missing:
    'Linux 5.6 has openat2. A container profile, seccomp filter or systemd RestrictSUIDSGID can block it: allow it there.',
  native_addon_missing:
    'In a checkout `npm start` builds it; in a project `npm rebuild workspace-authority` does (C++ compiler and CMake).',
  platform_unsupported: 'Run it on Linux, x64 or arm64.',
  prover_unavailable: '`doctor` shows what is wrong with Git and nodegit.',
  atomic_exchange_unavailable: 'Keep the directory on a local file system such as ext4, xfs, btrfs or tmpfs.',
  permission_denied: 'Give the user this runs as the permission, or run it as another user.',
  no_space: 'Free some space.',
  deadline_exceeded:
    'Another process holds the place; try again, or see which with `fuser` on the state directory.',
};

/** A failure as one JSON object. */
export interface FailureReport {
  readonly ok: false;
  readonly code: string;
  readonly message: string;
  readonly details: Readonly<Record<string, unknown>>;
  readonly advice: string | null;
}

export function describeFailure(error: unknown): FailureReport {
  if (isAuthorityError(error)) return describeRefusal(error);
  const { code, message } = error as NodeJS.ErrnoException;
  return { ok: false, code: code ?? 'failed', message: message ?? String(error), details: {}, advice: null };
}

function describeRefusal({ code, message, details }: AuthorityError): FailureReport {
  return { ok: false, code, message, details, advice: advice[code] ?? null };
}

/** What was refused, which fact failed, what to do. Never a stack. */
export function printFailure(terminal: Terminal, report: FailureReport, json: boolean): void {
  if (json) {
    terminal.print(JSON.stringify(report));
    return;
  }
  terminal.note(`workspace-authority: ${report.message} (${report.code})`);
  for (const [name, value] of Object.entries(report.details)) {
    terminal.note(`  ${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`);
  }
  if (report.advice !== null) terminal.note(`  ${report.advice}`);
}
