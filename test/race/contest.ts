import { afterAll, beforeAll } from 'vitest';
import { createService, type Service } from '../../src/service.ts';
import { type Attack, Attacker, buildAttacker } from './attacker.ts';
import { makeSandbox, type Sandbox } from './tree.ts';

export const long: boolean = process.env['WORKSPACE_AUTHORITY_LONG'] === '1';

/** Builds the attacker once for the file that calls this; the result starts it. */
export function attackers(): (directory: string, attack: Attack) => Promise<Attacker> {
  let programs: Sandbox;
  let program: string;
  beforeAll(() => {
    programs = makeSandbox();
    program = buildAttacker(programs.base);
  });
  afterAll(() => programs[Symbol.dispose]());
  return (directory, attack) => Attacker.start(program, directory, attack);
}

/** A service whose only workspace is the root of the sandbox. */
export async function serve(sandbox: Sandbox): Promise<Service> {
  const service = await createService({ stateDirectory: sandbox.state, prover: 'git' });
  await service.workspaces?.add(sandbox.root);
  return service;
}
