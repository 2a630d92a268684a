import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeApi } from '../../src/http/openapi.ts';
import { apiRoutes } from '../../src/http/routes/index.ts';
import { type RunningServer, startServer } from '../support/http-server.ts';
import { memoryService } from '../support/memory-service.ts';

const signIn = { redeem: () => null };
const routes = apiRoutes({ signIn });

describe('the published description', () => {
  it('R41: docs/openapi.json is what the schemas say now (update with `vitest run -u`)', async () => {
    const text = `${JSON.stringify(describeApi(routes, '/api'), null, 2)}\n`;
    await expect(text).toMatchFileSnapshot('../../docs/openapi.json');
  });

  it('every body and query schema refuses what it does not know', () => {
    for (const route of routes) {
      for (const part of ['body', 'query'] as const) {
        const schema = route.definition[part];
        if (schema === undefined) continue;
        const result = schema.safeParse({ 'no such field': 1 });
        const unknown = result.error?.issues.some((issue) => issue.code === 'unrecognized_keys');
        expect([route.name, part, unknown]).toEqual([route.name, part, true]);
      }
    }
  });

  it('every change has a body, every read has none', () => {
    for (const route of routes) {
      expect([route.name, route.definition.body !== undefined]).toEqual([route.name, route.method !== 'GET']);
    }
  });

  describe('is served', () => {
    let running: RunningServer;
    beforeAll(async () => {
      running = await startServer(memoryService(new Map()), { basePath: '/better-workspaces/api', signIn });
    });
    afterAll(() => running[Symbol.asyncDispose]());

    it('under the path the API is mounted at', async () => {
      const answer = await running.send({ path: '//better-workspaces/api/openapi.json' });
      expect(answer.body).toEqual(JSON.parse(JSON.stringify(describeApi(routes, '/better-workspaces/api'))));
    });
  });
});
