import { AuthorityError } from '../errors/index.ts';
import type { Forge } from '../forge/forge.ts';
import { parseForgeIdentity } from '../git/remote-address.ts';
import { parseBranchName, parseRefName } from '../git/values.ts';
import type { VerifiedPulls } from '../worktrees/verified-pulls.ts';
import { assertExpectedRepository } from './expected-repository.ts';

/** Verifies by a forge: `origin` names the repository, a caller can only agree, and everything else comes from the forge now. */
export function verifiedPullsOf(forge: Forge): VerifiedPulls {
  return {
    async verify({ host, owner, repo, number }, originAddress, signal) {
      const name = parseForgeIdentity(originAddress);
      assertExpectedRepository(name, { host, owner, repo });
      const pull = await forge.pull(name, number, signal);
      const forkOwner = pull.headOwnerLogin === null ? null : parseBranchName(pull.headOwnerLogin);
      const remoteRef = parseRefName(`refs/pull/${number}/head`);
      // A head whose fork is deleted is nobody's branch here: its local name must not be that of a branch of this repository.
      const owned = pull.fork === false ? null : (forkOwner ?? parseBranchName('deleted-fork'));
      if (remoteRef === null) throw new AuthorityError('forge_response_invalid');
      return {
        number,
        headOid: pull.headRefOid,
        headRef: pull.headRefName,
        baseRef: pull.baseRefName,
        forkOwner: owned,
        remoteRef,
      };
    },
  };
}
