import { z } from 'zod';
import { parseBeneathPath } from '../../capability/beneath-path.ts';
import { defineRoute, type Route } from '../define-route.ts';
import { pathField, selectorField } from '../fields.ts';
import { inWorkspace, targetOf } from '../in-workspace.ts';
import { doneAnswer, doneSchema } from '../written-answer.ts';

export const renameRoute: Route = defineRoute({
  method: 'POST',
  path: '/rename',
  summary: 'Rename or move a file, link or directory; never over something else.',
  body: z.strictObject({ cwd: selectorField, from: pathField, to: pathField }),
  answers: { 200: { description: 'The new name stands.', schema: doneSchema } },
  run: (context, _query, body) =>
    inWorkspace(context, body.cwd, async (capability) => {
      const { service, exchange } = context;
      const from = targetOf(context, body.from);
      const to = parseBeneathPath(body.to);
      await service.files.rename(capability, from, to, { signal: exchange.signal });
      return doneAnswer(200);
    }),
});
