import type { DirectoryHandle } from '../capability/handles.ts';
import { AuthorityError, isAuthorityError } from '../errors/index.ts';
import type { ProvenCheckout } from './checkout.ts';
import { administrationPath, type CheckoutClaim } from './checkout-claim.ts';
import { establish, type FactLog } from './facts.ts';
import type { PlaceOfDirectory, ProverOpinion, ProverQuestion, RepositoryProver } from './prover.ts';
import { readLinkedWorktree } from './read-linked-worktree.ts';
import { readMainCheckout } from './read-main-checkout.ts';
import { readSeparateCheckout } from './read-separate-checkout.ts';
import { translateStorageFailure } from './storage-failure.ts';
import { unsupported } from './unsupported.ts';

/** A checkout that other programs work in may change under the proof; so often in a row is no accident. */
const attempts = 3;

export interface ProofOptions {
  /** Work that needs no opinion of the prover, done while it thinks, and again at each attempt. */
  readonly meanwhile?: () => Promise<unknown>;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Proves that the held root is exactly the checkout that the claim says. Our own round trip reads every fact through the handles; then
 * the prover gives its opinion; then every fact is looked at once more, so that a swap in between is seen (R06).
 *
 * Not promised: that the prover's reads, which go by path, saw the held directory each time. Its opinion is only ever a second one.
 * @throws `repository_unsupported` | `prover_unavailable` | `identity_changed` (details.what) | `busy` | `storage_failed` | `aborted`
 */
export async function proveCheckout(
  claim: CheckoutClaim,
  prover: RepositoryProver,
  log: FactLog,
  { meanwhile, signal }: ProofOptions = {},
): Promise<ProvenCheckout> {
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const checkout = await read(attempt === 0 ? claim : withoutPointers(claim), log).catch(
      async (error: unknown) => {
        throw await refusalOrChange(claim, error);
      },
    );
    const opinion = await whileAsking(prover.prove(questionOf(claim, checkout), signal), meanwhile);
    await assertInPlace(claim.root, claim.path, 'root', log);
    if (claim.kind === 'worktree')
      await assertInPlace(claim.main.root, claim.main.path, 'main checkout', log);
    // A repository that changed meanwhile makes the opinion worthless, whatever it was.
    if (!(await checkout.isUnchangedWaiting())) continue;
    const seen = opinion.agrees ? 'the same checkout' : opinion.seen;
    establish(log, { fact: 'second opinion', expected: 'the same checkout', seen }, opinion.agrees, () =>
      unsupported('prover-disagrees'),
    );
    return checkout;
  }
  throw new AuthorityError('busy', { details: { what: 'repository' } });
}

/** What is wrong with a Git directory that does not stand there any more says nothing: it was exchanged while it was read. */
async function refusalOrChange(claim: CheckoutClaim, error: unknown): Promise<unknown> {
  if (!isAuthorityError(error) || error.code !== 'repository_unsupported') return error;
  const [path] = placesOf(claim);
  const here = await claim.gitDirectory.leadsHere(path).catch(() => true);
  return here
    ? error
    : new AuthorityError('identity_changed', { details: { what: 'git dir' }, cause: error });
}

/** What other work throws is told when the prover has answered: until then the descriptors that it was given must mean the same. */
async function whileAsking(
  asking: Promise<ProverOpinion>,
  meanwhile: ProofOptions['meanwhile'],
): Promise<ProverOpinion> {
  const [opinion, other] = await Promise.allSettled([asking, meanwhile?.()]);
  if (other.status === 'rejected') throw other.reason;
  if (opinion.status === 'rejected') throw opinion.reason;
  return opinion.value;
}

/** What was read before the last attempt may be what changed. */
function withoutPointers(claim: CheckoutClaim): CheckoutClaim {
  return claim.kind === 'worktree' ? { ...claim, pointers: null } : claim;
}

function read(claim: CheckoutClaim, log: FactLog): Promise<ProvenCheckout> {
  if (claim.kind === 'main') return readMainCheckout(claim, log);
  return claim.kind === 'worktree' ? readLinkedWorktree(claim, log) : readSeparateCheckout(claim, log);
}

async function assertInPlace(
  directory: DirectoryHandle,
  path: string,
  what: 'root' | 'main checkout',
  log: FactLog,
): Promise<void> {
  let here: boolean;
  try {
    here = directory.leadsHereCached(path) ?? (await directory.leadsHere(path));
  } catch (error) {
    throw translateStorageFailure(error);
  }
  establish(
    log,
    { fact: `${what} after the opinion`, expected: 'in place', seen: here ? 'in place' : 'moved' },
    here,
    () => new AuthorityError('identity_changed', { details: { what } }),
  );
}

function questionOf(claim: CheckoutClaim, checkout: ProvenCheckout): ProverQuestion {
  const [gitPath, common] = placesOf(claim);
  const worktree = claim.kind === 'worktree' ? { name: claim.name, mainPath: claim.main.path } : null;
  return {
    path: claim.path,
    rootDescriptor: claim.root.descriptorPath(),
    root: claim.root.place(),
    gitDirectory: { path: gitPath, ...claim.gitDirectory.place() },
    commonDirectory: common,
    worktree,
    format: checkout.format,
    configurationStamp: checkout.configurationStamp,
  };
}

/** The path of the Git dir, and the common dir. */
function placesOf(claim: CheckoutClaim): readonly [string, PlaceOfDirectory] {
  if (claim.kind === 'worktree') {
    const { main, name } = claim;
    const common = { path: `${main.path}/.git`, ...main.gitDirectory.place() };
    return [`${main.path}/${administrationPath(name)}`, common];
  }
  const path = claim.kind === 'main' ? `${claim.path}/.git` : claim.gitPath;
  return [path, { path, ...claim.gitDirectory.place() }];
}
