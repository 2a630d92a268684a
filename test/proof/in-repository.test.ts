import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { inRepository, inRepositoryOrNull } from '../../src/authority/in-repository.ts';
import type { RepositoryCapability } from '../../src/capability/repository-capability.ts';
import { AuthorityError } from '../../src/errors/index.ts';
import { type AuthorityLab, createLab } from '../support/authority-lab.ts';
import { makeRepository } from '../support/git.ts';

let lab: AuthorityLab;

beforeAll(async () => {
  lab = await createLab({ mode: 'git' });
});

afterAll(async () => {
  await lab[Symbol.asyncDispose]();
});

async function registered(name: string): Promise<string> {
  await makeRepository(join(lab.place, name));
  return lab.register(name);
}

for (const use of [inRepository, inRepositoryOrNull]) {
  it(`R06: ${use.name} gives no answer about a root that was exchanged while it worked`, async () => {
    const path = await registered(use.name);
    const work = async () => {
      await rename(path, `${path}-away`);
      await makeRepository(path);
      return 'an answer';
    };
    await expect(use(lab.authority, path, work)).rejects.toMatchObject({ code: 'identity_changed' });
  });

  it(`R06: ${use.name} lets the capability go, also when the work fails`, async () => {
    const path = await registered(`${use.name}-disposed`);
    const seen: RepositoryCapability[] = [];
    const failing = async (capability: RepositoryCapability) => {
      seen.push(capability);
      throw new AuthorityError('git_failed');
    };
    await expect(use(lab.authority, path, failing)).rejects.toMatchObject({ code: 'git_failed' });
    await use(lab.authority, path, async (capability) => seen.push(capability));
    expect(seen).toHaveLength(2);
    for (const capability of seen) {
      expect(() => capability.held).toThrow(expect.objectContaining({ code: 'internal_error' }));
    }
  });
}

it('R03: inRepositoryOrNull takes only the selector for a plain directory, never what the work says', async () => {
  const path = await registered('says');
  const work = async () => {
    throw new AuthorityError('git_repository_required');
  };
  await expect(inRepositoryOrNull(lab.authority, path, work)).rejects.toMatchObject({
    code: 'git_repository_required',
  });
});
