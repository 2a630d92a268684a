import { randomUUID } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Cleanup } from '../harness/cleanup.ts';
import type { Contest, Scale, Side } from '../harness/trial.ts';
import { makeScratch } from '../sides/scratch.ts';
import { settle } from '../sides/settle.ts';
import { startChild, type TrialChild } from './child.ts';
import { type Answer, Connection } from './connection.ts';
import type { LoadPlan, LoadReport } from './load-generator.ts';
import type { Target } from './request-bytes.ts';

/** Both servers, each in its own process over the same directory. */
export interface Servers {
  readonly root: string;
  readonly ours: Target;
  readonly theirs: Target;
}

interface ServerReady {
  readonly port: number;
}

/** Our application in a process of its own, over one registered directory. */
export async function startOurServer(
  cleanup: Cleanup,
  fill: (root: string) => Promise<unknown>,
): Promise<{ readonly root: string; readonly target: Target; readonly child: TrialChild<ServerReady> }> {
  const scratch = await makeScratch(cleanup);
  const root = join(scratch, 'workspace');
  await mkdir(root);
  await fill(root);
  await settle();
  const token = randomUUID();
  const settings = { root, state: join(scratch, 'state'), token };
  const child = await startChild<ServerReady>(cleanup, 'our-server.js', settings);
  return { root, target: { port: child.ready.port, token }, child };
}

interface HttpContestOptions {
  fill(root: string): Promise<unknown>;
  /** One list of requests for each connection. */
  requests(target: Target, root: string, side: 'ours' | 'theirs'): readonly (readonly Buffer[])[];
  /** Throws when the answers, or what stands on disk after them, are not right. */
  verify(target: Target, root: string, side: 'ours' | 'theirs'): Promise<void>;
}

/** The same load on both servers; nanoseconds of the wall clock for each request. */
export async function httpContest(
  cleanup: Cleanup,
  scale: Scale,
  { fill, requests, verify }: HttpContestOptions,
): Promise<Contest> {
  const { root, target } = await startOurServer(cleanup, fill);
  const express = await startChild<ServerReady>(cleanup, 'express-server.js', { root });
  // Enough to fill the budget on a slow machine without making a round endless.
  const count = scale.budgetMs * 10;
  const side = async (name: 'ours' | 'theirs', at: Target): Promise<Side> => {
    const generator = await startChild(cleanup, 'load-generator.js');
    const plan: LoadPlan = { port: at.port, requests: requests(at, root, name), count, expectedStatus: 200 };
    return {
      sample: async () => [(await generator.ask<LoadReport>(plan)).nsPerRequest],
      verify: () => verify(at, root, name),
    };
  };
  return {
    ours: await side('ours', target),
    theirs: await side('theirs', { port: express.ready.port, token: target.token }),
  };
}

export async function askOnce(target: Target, request: Buffer): Promise<Answer> {
  const connection = await Connection.open(target.port);
  try {
    return await connection.exchange(request);
  } finally {
    connection.close();
  }
}
