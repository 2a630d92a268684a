import { z } from 'zod';
import { AuthorityError, isAuthorityError } from '../../errors/index.ts';
import { baseOfChange } from '../base-of-change.ts';
import { defineRoute, type Route } from '../define-route.ts';
import { baseSha1Field, pathField, selectorField } from '../fields.ts';
import { encodeText } from '../file-content.ts';
import { inWorkspace, targetOf } from '../in-workspace.ts';
import { changedAnswer, changedSchema } from '../written-answer.ts';

const allRequired = 'cwd, path and content required';

/** Replaces the text of an existing file; never creates one. */
export const filePostRoute: Route = defineRoute({
  method: 'POST',
  path: '/file',
  summary: 'Replace the text of an existing file.',
  body: z.strictObject({
    cwd: selectorField,
    path: pathField,
    content: z.string(),
    baseSha1: baseSha1Field,
  }),
  requestHeaders: ['If-Match'],
  shapeTexts: { cwd: allRequired, path: allRequired, content: allRequired, baseSha1: 'invalid baseSha1' },
  answers: { 200: { description: 'The new version is on disk.', schema: changedSchema } },
  run: async (context, _query, body) => {
    const { service, exchange, limits } = context;
    const bytes = encodeText(body.content, limits.fileBytes);
    return await inWorkspace(context, body.cwd, async (capability) => {
      const path = targetOf(context, body.path);
      try {
        const base = await baseOfChange(context, capability, path, body.baseSha1);
        const options = { signal: exchange.signal };
        return changedAnswer(200, await service.files.replace(capability, path, bytes, base, options));
      } catch (error) {
        throw asExistingFileRequired(error);
      }
    });
  },
});

function asExistingFileRequired(error: unknown): unknown {
  if (!isAuthorityError(error) || error.code !== 'not_found') return error;
  return new AuthorityError('not_found', { legacy: 'existing file required', cause: error });
}
