import { z } from 'zod';
import { baseOfChange } from '../base-of-change.ts';
import { defineRoute, type Route } from '../define-route.ts';
import { baseSha1Field, pathField, selectorField } from '../fields.ts';
import { inWorkspace, targetOf } from '../in-workspace.ts';
import { doneAnswer, doneSchema } from '../written-answer.ts';

export const fileDeleteRoute: Route = defineRoute({
  method: 'DELETE',
  path: '/file',
  summary: 'Delete a file whose version the caller knows.',
  body: z.strictObject({ cwd: selectorField, path: pathField, baseSha1: baseSha1Field }),
  requestHeaders: ['If-Match'],
  shapeTexts: { baseSha1: 'invalid baseSha1' },
  answers: { 200: { description: 'The name is gone.', schema: doneSchema } },
  run: (context, _query, body) =>
    inWorkspace(context, body.cwd, async (capability) => {
      const { service, exchange } = context;
      const path = targetOf(context, body.path);
      const base = await baseOfChange(context, capability, path, body.baseSha1);
      await service.files.remove(capability, path, base, { signal: exchange.signal });
      return doneAnswer(200);
    }),
});
