import { appendFile, chmod, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CommandUse } from '../../src/git/cleared-place.ts';
import { createConfigurationGate } from '../../src/git/configuration-gate.ts';
import { git } from '../support/git.ts';
import { commitFile, createGitLab, type GitLab, setAttributes, unguarded } from './git-lab.ts';
import { factCommands, outputOf, workTreeCommands } from './run-reads.ts';

let lab: GitLab;

beforeAll(async () => {
  lab = await createGitLab();
});

afterAll(async () => {
  await lab[Symbol.asyncDispose]();
});

interface Attack {
  readonly title: string;
  readonly name: string;
  readonly prepare: (path: string, program: string) => Promise<void>;
  /** What starts the program where nobody guards Git. */
  readonly bait: readonly string[];
  readonly input?: string;
  readonly refusedFor: Partial<Record<CommandUse, readonly string[]>>;
}

/** Sets keys to the program. */
function naming(...keys: readonly string[]): Attack['prepare'] {
  return async (path, program) => {
    for (const key of keys) await git(path, 'config', key, program);
  };
}

/** Sets a key of a driver to the program, and lets `k` choose the driver. */
function driver(kind: 'filter' | 'diff' | 'merge', key: string): Attack['prepare'] {
  return async (path, program) => {
    await git(path, 'config', `${kind}.evil.${key}`, program);
    await setAttributes(path, `k ${kind}=evil\n`);
  };
}

function contents(...keys: readonly string[]): Attack['refusedFor'] {
  return { 'work-tree': keys, merge: keys };
}

/** Gives HEAD a commit with a signature, which nobody made. */
async function sign(path: string, kind: 'PGP' | 'SSH'): Promise<void> {
  const text = await git(path, 'cat-file', 'commit', 'HEAD');
  const [headers = '', ...message] = text.split('\n\n');
  const signature = `gpgsig -----BEGIN ${kind} SIGNATURE-----\n \n AAAA\n -----END ${kind} SIGNATURE-----`;
  const file = join(path, '.git/signed');
  await writeFile(file, `${headers}\n${signature}\n\n${message.join('\n\n')}`);
  const oid = (await git(path, 'hash-object', '-t', 'commit', '-w', file)).trim();
  await git(path, 'update-ref', 'refs/heads/main', oid);
}

const attacks: readonly Attack[] = [
  {
    title: 'a file system monitor',
    name: 'monitor',
    prepare: naming('core.fsmonitor'),
    bait: ['status'],
    refusedFor: {},
  },
  {
    title: 'a hook of the index',
    name: 'hook',
    prepare: async (path, program) => {
      const hook = join(path, '.git/hooks/post-index-change');
      await mkdir(join(path, '.git/hooks'), { recursive: true });
      await writeFile(hook, `#!/bin/sh\nexec '${program}'\n`);
      await chmod(hook, 0o755);
      // The file is the same again, and only the index does not know.
      await git(path, 'checkout', '-q', '--no-overlay', 'HEAD', '--', 'k');
      await writeFile(join(path, 'k'), 'two\n');
      await lab.hasRun();
    },
    bait: ['status'],
    refusedFor: {},
  },
  {
    title: 'an external diff',
    name: 'external',
    prepare: naming('diff.external'),
    bait: ['diff'],
    refusedFor: {},
  },
  {
    title: 'a diff driver',
    name: 'diff-driver',
    prepare: driver('diff', 'command'),
    bait: ['diff'],
    refusedFor: {},
  },
  {
    title: 'a text conversion',
    name: 'textconv',
    prepare: driver('diff', 'textconv'),
    bait: ['diff'],
    refusedFor: {},
  },
  {
    title: 'W14: a checker of signatures',
    name: 'gpg',
    prepare: async (path, program) => {
      await sign(path, 'PGP');
      await git(path, 'config', 'log.showSignature', 'true');
      await git(path, 'config', 'gpg.program', program);
    },
    bait: ['log'],
    refusedFor: {},
  },
  {
    title: 'W14: a checker of signatures by its format',
    name: 'openpgp',
    prepare: async (path, program) => {
      await sign(path, 'PGP');
      await git(path, 'config', 'log.showSignature', 'true');
      await git(path, 'config', 'gpg.openpgp.program', program);
    },
    bait: ['log'],
    refusedFor: {},
  },
  {
    title: 'W14: a checker of SSH signatures',
    name: 'ssh-signature',
    prepare: async (path, program) => {
      await sign(path, 'SSH');
      await git(path, 'config', 'log.showSignature', 'true');
      await git(path, 'config', 'gpg.ssh.allowedSignersFile', '/dev/null');
      await git(path, 'config', 'gpg.ssh.program', program);
    },
    bait: ['log'],
    refusedFor: {},
  },
  {
    title: 'a filter on the way in',
    name: 'clean',
    prepare: driver('filter', 'clean'),
    bait: ['status'],
    refusedFor: contents('filter.evil.clean'),
  },
  {
    title: 'a filter process',
    name: 'process',
    prepare: driver('filter', 'process'),
    bait: ['status'],
    refusedFor: contents('filter.evil.process'),
  },
  {
    title: 'a filter on the way out',
    name: 'smudge',
    prepare: driver('filter', 'smudge'),
    bait: ['checkout', '--', 'k'],
    refusedFor: contents('filter.evil.smudge'),
  },
  {
    title: 'a filter in the configuration of the worktree',
    name: 'worktree-scope',
    prepare: async (path, program) => {
      await git(path, 'config', 'extensions.worktreeConfig', 'true');
      await git(path, 'config', '--worktree', 'filter.evil.clean', program);
      await setAttributes(path, 'k filter=evil\n');
    },
    bait: ['status'],
    refusedFor: contents('filter.evil.clean'),
  },
  {
    title: 'a filter of a submodule',
    name: 'submodule',
    prepare: async (path, program) => {
      const inner = join(path, 'inner');
      await git(path, 'init', '-q', 'inner');
      await commitFile(inner, 'k', 'one\n');
      await git(path, 'add', 'inner');
      await git(path, 'commit', '-q', '-m', 'inner');
      await writeFile(join(inner, 'k'), 'two\n');
      await driver('filter', 'clean')(inner, program);
    },
    bait: ['status'],
    refusedFor: {},
  },
  {
    title: 'a merge driver',
    name: 'merge-driver',
    prepare: async (path, program) => {
      await git(path, 'checkout', '-q', '--', 'k');
      await driver('merge', 'driver')(path, program);
    },
    bait: ['merge', 'other'],
    refusedFor: { merge: ['merge.evil.driver'] },
  },
  {
    title: 'a transport for SSH',
    name: 'ssh',
    prepare: naming('core.sshCommand'),
    bait: ['ls-remote', 'ssh://127.0.0.1/x'],
    refusedFor: { network: ['core.sshcommand'] },
  },
  {
    title: 'a transport for git://',
    name: 'git-proxy',
    prepare: naming('core.gitProxy'),
    bait: ['-c', 'core.gitProxy=', 'ls-remote', 'git://127.0.0.1/x'],
    refusedFor: { network: ['core.gitproxy'] },
  },
  {
    title: 'the other end of a remote',
    name: 'uploadpack',
    prepare: async (path, program) => {
      await git(path, 'config', 'remote.origin.url', path);
      await git(path, 'config', 'remote.origin.uploadpack', program);
    },
    bait: ['ls-remote', 'origin'],
    refusedFor: { network: ['remote.origin.uploadpack'] },
  },
  {
    title: 'W15: the other end of a promisor',
    name: 'promisor',
    prepare: async (path, program) => {
      await git(path, 'config', 'core.repositoryFormatVersion', '1');
      await git(path, 'config', 'extensions.partialClone', 'far');
      await git(path, 'config', 'remote.far.promisor', 'true');
      await git(path, 'config', 'remote.far.url', path);
      await git(path, 'config', 'remote.far.uploadpack', program);
      await git(path, 'config', 'protocol.file.allow', 'always');
      const blob = (await git(path, 'rev-parse', 'HEAD~1:k')).trim();
      await rm(join(path, '.git/objects', blob.slice(0, 2), blob.slice(2)));
    },
    bait: ['diff', 'HEAD~1', 'HEAD'],
    refusedFor: { network: ['remote.far.uploadpack'] },
  },
  {
    title: 'W16: a keeper of credentials for one address',
    name: 'credential',
    prepare: (path, program) => naming('credential.https://user:secret@host.helper')(path, `!${program}`),
    bait: ['credential', 'fill'],
    input: 'url=https://user@host\n\n',
    refusedFor: { network: ['credential.*.helper'] },
  },
  {
    title: 'an address that stands for a program',
    name: 'instead',
    prepare: async (path, program) => {
      await git(path, 'config', `url.ext::${program} .insteadOf`, 'https://');
      await git(path, 'config', 'protocol.ext.allow', 'always');
    },
    bait: ['ls-remote', 'https://host/x'],
    refusedFor: { network: ['url.*.insteadof'] },
  },
];

describe('a repository that names programs', () => {
  it.each(attacks)(
    'R20: $title does not run for reads, and is refused where it would matter',
    async (attack) => {
      const path = await lab.makeRepository(attack.name);
      await attack.prepare(path, lab.program);
      const index = await readFile(join(path, '.git/index'));
      const capability = await lab.hold(path);
      const gate = createConfigurationGate(lab.git);
      const refused: Partial<Record<CommandUse, unknown>> = {};
      for (const use of ['facts', 'work-tree', 'merge', 'network'] as const) {
        await gate.clear(capability, use).catch((error) => {
          expect(error).toMatchObject({ code: 'untrusted_repository_config', details: { use } });
          refused[use] = error.details.keys;
        });
      }
      expect(refused).toEqual(attack.refusedFor);
      for (const command of await factCommands(lab.git, capability)) await lab.git.run(command);
      if (refused['work-tree'] === undefined) {
        const place = await gate.clear(capability, 'work-tree');
        for (const command of await workTreeCommands(lab.git, place)) await lab.git.run(command);
      }
      expect(await lab.hasRun()).toBe(false);
      expect(await readFile(join(path, '.git/index'))).toEqual(index);
      // The trap is a real one: without the gate and the fixed settings it shuts.
      await unguarded(path, attack.bait, attack.input);
      expect(await lab.hasRun()).toBe(true);
    },
  );

  it('W15: a missing object is a failure, not a shorter diff', async () => {
    const path = await lab.makeRepository('missing');
    const blob = (await git(path, 'rev-parse', 'HEAD~1:k')).trim();
    await rm(join(path, '.git/objects', blob.slice(0, 2), blob.slice(2)));
    const capability = await lab.hold(path);
    const diffs = (await factCommands(lab.git, capability)).filter(({ name }) => name === 'diff-commits');
    expect((await lab.git.run(diffs[0] as (typeof diffs)[0])).exitCode).toBe(128);
  });

  it('a key that is new to a section of Git is refused for every use', async () => {
    const path = await lab.makeRepository('new-key');
    await git(path, 'config', 'core.newMonitor', lab.program);
    const capability = await lab.hold(path);
    await expect(createConfigurationGate(lab.git).clear(capability, 'facts')).rejects.toMatchObject({
      details: { keys: ['core.newmonitor'] },
    });
  });

  it('a configuration that comes while a capability is held is seen', async () => {
    const path = await lab.makeRepository('later');
    const capability = await lab.hold(path);
    const gate = createConfigurationGate(lab.git);
    await gate.clear(capability, 'work-tree');
    await appendFile(join(path, '.git/config'), '[filter "late"]\n\tclean = x\n');
    await expect(gate.clear(capability, 'work-tree')).rejects.toMatchObject({
      details: { keys: ['filter.late.clean'] },
    });
  });

  it('R04: a configuration that Git cannot read is a refusal', async () => {
    const path = await lab.makeRepository('broken');
    const capability = await lab.hold(path);
    await appendFile(join(path, '.git/config'), '[broken\n');
    await expect(createConfigurationGate(lab.git).clear(capability, 'facts')).rejects.toMatchObject({
      code: 'git_failed',
    });
  });
});

describe('a driver that the operator allows', () => {
  it('runs as the operator says, never as the repository says', async () => {
    const path = await lab.makeRepository('allowed');
    await driver('filter', 'clean')(path, lab.program);
    // Stored are capital letters, which no file here holds.
    const program = '/usr/bin/tr';
    const allowed = {
      kind: 'filter',
      name: 'evil',
      clean: { program, words: ['a-z', 'A-Z'] },
      smudge: { program, words: ['A-Z', 'a-z'] },
    } as const;
    const capability = await lab.hold(path);
    const place = await createConfigurationGate(lab.git, [allowed]).clear(capability, 'work-tree');
    const outputs = new Map<string, string>();
    for (const command of await workTreeCommands(lab.git, place)) {
      outputs.set(command.name, (await outputOf(lab.git, command)).toString());
    }
    expect(outputs.get('diff-work-tree')).toContain('-two\n+TEN\n');
    expect(await lab.hasRun()).toBe(false);
  });

  it('gets the name of a file as one word, whatever the name is', async () => {
    const path = await lab.makeRepository('quoted');
    const name = `it's; $(touch x) -k`;
    await commitFile(path, name, 'one\n');
    await writeFile(join(path, name), 'two\n');
    await setAttributes(path, '*k filter=echo\n');
    const program = join(lab.place, 'say "words"');
    await writeFile(program, '#!/bin/sh\nprintf "%s|" "$#" "$@"\n');
    await chmod(program, 0o755);
    const words = ["it's", '$HOME;', '%f'];
    const allowed = {
      kind: 'filter',
      name: 'echo',
      clean: { program, words },
      smudge: { program, words },
    } as const;
    const capability = await lab.hold(path);
    const place = await createConfigurationGate(lab.git, [allowed]).clear(capability, 'work-tree');
    const commands = await workTreeCommands(lab.git, place);
    const diff = commands.find((command) => command.name === 'diff-work-tree');
    const output = (await outputOf(lab.git, diff as NonNullable<typeof diff>)).toString();
    expect(output).toContain(`+3|it's|$HOME;|${name}|`);
  });

  it('lets no other driver through', async () => {
    const path = await lab.makeRepository('neighbour');
    await driver('filter', 'clean')(path, lab.program);
    const program = { program: '/usr/bin/cat', words: [] };
    const gate = createConfigurationGate(lab.git, [
      { kind: 'filter', name: 'evi', process: program },
      { kind: 'merge', name: 'evil', driver: program },
    ]);
    const capability = await lab.hold(path);
    await expect(gate.clear(capability, 'work-tree')).rejects.toMatchObject({
      details: { keys: ['filter.evil.clean'] },
    });
  });

  it('with two programs leaves the key of the third to judgement', async () => {
    const path = await lab.makeRepository('third');
    await driver('filter', 'process')(path, lab.program);
    const program = { program: '/usr/bin/cat', words: [] };
    const allowed = { kind: 'filter', name: 'evil', clean: program, smudge: program } as const;
    const capability = await lab.hold(path);
    await expect(
      createConfigurationGate(lab.git, [allowed]).clear(capability, 'work-tree'),
    ).rejects.toMatchObject({ details: { keys: ['filter.evil.process'] } });
  });
});
