import { z } from 'zod';
import { defineRoute, type Route } from '../define-route.ts';
import { pathField, selectorField } from '../fields.ts';
import { inWorkspace, targetOf } from '../in-workspace.ts';
import { doneAnswer, doneSchema } from '../written-answer.ts';

export const mkdirRoute: Route = defineRoute({
  method: 'POST',
  path: '/mkdir',
  summary: 'Create one directory in an existing one.',
  body: z.strictObject({ cwd: selectorField, path: pathField }),
  answers: { 201: { description: 'The directory stands.', schema: doneSchema } },
  run: (context, _query, body) =>
    inWorkspace(context, body.cwd, async (capability) => {
      const path = targetOf(context, body.path);
      await context.service.files.makeDirectory(capability, path, { signal: context.exchange.signal });
      return doneAnswer(201);
    }),
});
