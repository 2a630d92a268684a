import { randomUUID } from 'node:crypto';
import { currentProcess, stateOf } from '../capability/process-owner.ts';
import type { RepositoryCapability } from '../capability/repository-capability.ts';
import { AuthorityError } from '../errors/index.ts';
import { runExpecting } from '../git/expect-success.ts';
import { readOriginAddress } from '../git/origin-address.ts';
import { pinnedPlace } from '../git/pinned-place.ts';
import { readCommands } from '../git/read-commands.ts';
import { readRefTips } from '../git/ref-tips.ts';
import type { GitRunner } from '../git/run-git.ts';
import { runWriting } from '../git/run-writing.ts';
import { parseRefName, parseRemoteName, type RefName } from '../git/values.ts';
import { writeCommands } from '../git/write-commands.ts';
import type { CreateContext } from './create-context.ts';
import type { PullSelector } from './create-request.ts';
import type { VerifiedPull } from './verified-pulls.ts';

/** The head of a pull request, held in the repository by a ref of its own until this is disposed. */
export interface HeldPull extends AsyncDisposable {
  readonly pull: VerifiedPull;
}

const prefix = 'refs/workspace-authority/pull/';
const ownedShape = /^refs\/workspace-authority\/pull\/(\d+)-(\d+)-(\d+)-([0-9a-f]{8})-[0-9a-f-]{36}$/;

/**
 * Asks the forge for the pull request, and fetches its head from `origin`, outside every turn. What comes must be the commit that the forge
 * named.
 * @throws `not_offered` where no forge is asked | `remote_missing` | `pull_request_head_moved` (both commits) | as the forge and Git do
 */
export async function holdPull(
  context: CreateContext,
  capability: RepositoryCapability,
  selector: PullSelector,
  signal?: AbortSignal,
): Promise<HeldPull> {
  const { git, configuration, pulls, network } = context;
  if (pulls === null) throw new AuthorityError('not_offered', { details: { reason: 'no-forge' } });
  const remote = parseRemoteName('origin');
  const address = await readOriginAddress(capability, git, signal);
  if (remote === null || address === null) throw new AuthorityError('remote_missing');
  const pull = await pulls.verify(selector, address, signal);
  const ref = privateRef();
  const place = await configuration.clear(capability, 'network', signal);
  await capability.assertCurrent(signal);
  const held: HeldPull = { pull, [Symbol.asyncDispose]: () => release(capability, git, ref) };
  try {
    await runWriting(git, writeCommands.fetchRef(place, remote, pull.remoteRef, ref, network), signal);
    const found = (await readRefTips(capability, git, [ref], signal)).get(ref);
    if (found?.commit === pull.headOid) return held;
    const details = { expectedHeadOid: pull.headOid, headOid: found?.commit ?? null };
    throw new AuthorityError('pull_request_head_moved', { details });
  } catch (error) {
    await held[Symbol.asyncDispose]();
    throw error;
  }
}

/** Takes away the refs of processes that are dead. @throws as Git does */
export async function releaseAbandoned(capability: RepositoryCapability, git: GitRunner): Promise<void> {
  const refs = await runExpecting(git, readCommands.privateRefs(pinnedPlace(capability), prefix));
  for (const name of refs.toString('utf8').split('\n').slice(0, -1)) {
    const [, pid, startTime, pidNamespace, boot] = ownedShape.exec(name) ?? [];
    const ref = parseRefName(name);
    if (ref === null || !pid || !startTime || !pidNamespace || !boot) continue;
    if (stateOf({ pid, startTime, pidNamespace, boot }) === 'dead') await release(capability, git, ref);
  }
}

async function release(capability: RepositoryCapability, git: GitRunner, ref: RefName): Promise<void> {
  const commit = (await readRefTips(capability, git, [ref])).get(ref)?.commit ?? null;
  if (commit !== null)
    await runWriting(git, writeCommands.deleteBranch(pinnedPlace(capability), ref, commit));
}

/** Its name says whose it is. */
function privateRef(): RefName {
  const { pid, startTime, pidNamespace, boot } = currentProcess();
  const ref = parseRefName(`${prefix}${pid}-${startTime}-${pidNamespace}-${boot}-${randomUUID()}`);
  if (ref === null) throw new AuthorityError('internal_error');
  return ref;
}
