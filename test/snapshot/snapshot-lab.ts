import { join } from 'node:path';
import { type ConfigurationGate, createConfigurationGate } from '../../src/git/configuration-gate.ts';
import type { GitRunner } from '../../src/git/run-git.ts';
import type { RepositorySnapshot } from '../../src/snapshot/snapshot.ts';
import { createSnapshots, type Snapshots, type SnapshotsOptions } from '../../src/snapshot/snapshots.ts';
import { type AuthorityLab, createLab } from '../support/authority-lab.ts';
import { makeRepository } from '../support/git.ts';

/** Snapshots over real repositories, and a count of the processes that they took. */
export interface SnapshotLab extends AsyncDisposable {
  readonly place: string;
  readonly snapshots: Snapshots;
  readonly authority: AuthorityLab['authority'];
  readonly git: GitRunner;
  readonly configuration: ConfigurationGate;
  /** Commands that were run since the lab began. */
  readonly commands: readonly string[];
  register(name: string): Promise<string>;
  /** A registered main checkout with one commit on `main`. */
  makeRepository(name: string): Promise<string>;
  read(path: string): Promise<RepositorySnapshot>;
}

export async function createSnapshotLab(options: Partial<SnapshotsOptions> = {}): Promise<SnapshotLab> {
  const lab = await createLab({ mode: 'git' });
  const commands: string[] = [];
  const git: GitRunner = {
    run: (command, signal) => {
      commands.push(command.name);
      return lab.git.run(command, signal);
    },
    stream: (command, onOutput, signal) => {
      commands.push(command.name);
      return lab.git.stream(command, onOutput, signal);
    },
    runTelling: (command, onProgress, signal) => {
      commands.push(command.name);
      return lab.git.runTelling(command, onProgress, signal);
    },
    get running() {
      return lab.git.running;
    },
    close: () => lab.git.close(),
  };
  const configuration = createConfigurationGate(git);
  const snapshots = createSnapshots({ authority: lab.authority, git, configuration, freshMs: 0, ...options });
  const register = (name: string) => lab.register(name);
  return {
    place: lab.place,
    snapshots,
    authority: lab.authority,
    git,
    configuration,
    commands,
    register,
    async makeRepository(name) {
      await makeRepository(join(lab.place, name));
      return register(name);
    },
    async read(path) {
      const snapshot = await snapshots.read(path);
      if (!snapshot.isGit) throw new Error('no repository');
      return snapshot;
    },
    async [Symbol.asyncDispose]() {
      await snapshots.close();
      await lab[Symbol.asyncDispose]();
    },
  };
}
