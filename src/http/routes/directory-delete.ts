import { z } from 'zod';
import { defineRoute, type Route } from '../define-route.ts';
import { pathField, selectorField } from '../fields.ts';
import { inWorkspace, targetOf } from '../in-workspace.ts';
import { doneAnswer, doneSchema } from '../written-answer.ts';

export const directoryDeleteRoute: Route = defineRoute({
  method: 'DELETE',
  path: '/directory',
  summary: 'Remove an empty directory.',
  body: z.strictObject({ cwd: selectorField, path: pathField }),
  answers: { 200: { description: 'The directory is gone.', schema: doneSchema } },
  run: (context, _query, body) =>
    inWorkspace(context, body.cwd, async (capability) => {
      const path = targetOf(context, body.path);
      await context.service.files.removeDirectory(capability, path, { signal: context.exchange.signal });
      return doneAnswer(200);
    }),
});
