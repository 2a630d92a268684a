/** A process of its own that sends requests as fast as a server answers them, over a fixed number of connections. */
import { Connection } from './connection.ts';

export interface LoadPlan {
  readonly port: number;
  /** One list for each connection, which sends them in turn, for ever round. */
  readonly requests: readonly (readonly Buffer[])[];
  /** Requests of all connections together. */
  readonly count: number;
  readonly expectedStatus: number;
}

export interface LoadReport {
  readonly nsPerRequest: number;
}

/** Where each connection stands in its list; a commit can only follow the one it was based on. */
const positions: number[] = [];

async function run(plan: LoadPlan): Promise<LoadReport> {
  const connections = await Promise.all(plan.requests.map(() => Connection.open(plan.port)));
  let left = plan.count;
  const start = performance.now();
  await Promise.all(
    connections.map(async (connection, index) => {
      const requests = plan.requests[index] ?? [];
      let position = positions[index] ?? 0;
      while (left > 0) {
        left -= 1;
        const { status, body } = await connection.exchange(requests[position % requests.length] as Buffer);
        if (status !== plan.expectedStatus) throw new Error(`status ${status}: ${body.toString()}`);
        position += 1;
      }
      positions[index] = position;
    }),
  );
  const elapsedMs = performance.now() - start;
  for (const connection of connections) connection.close();
  return { nsPerRequest: (elapsedMs * 1e6) / plan.count };
}

process.on('message', (plan) => {
  void run(plan as LoadPlan).then(
    (report) => process.send?.(report),
    (error) => {
      console.error(error);
      process.exit(1);
    },
  );
});
process.on('disconnect', () => process.exit(0));
process.send?.({});
