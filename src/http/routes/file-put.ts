import { z } from 'zod';
import { AuthorityError, isAuthorityError } from '../../errors/index.ts';
import { baseOfChange } from '../base-of-change.ts';
import { defineRoute, type Route } from '../define-route.ts';
import { mustCreate } from '../entity-tags.ts';
import { pathField, selectorField } from '../fields.ts';
import { decodeBase64, encodeText } from '../file-content.ts';
import { invalidField } from '../gates/shape.ts';
import { inWorkspace, targetOf } from '../in-workspace.ts';
import { changedAnswer, changedSchema } from '../written-answer.ts';

/** Creates with `If-None-Match: *`, replaces with `If-Match`; without either nothing is done. */
export const filePutRoute: Route = defineRoute({
  method: 'PUT',
  path: '/file',
  summary: 'Create a file, or replace one whose version the caller knows.',
  body: z.strictObject({
    cwd: selectorField,
    path: pathField,
    content: z.string(),
    encoding: z.enum(['utf8', 'base64']).default('utf8'),
  }),
  requestHeaders: ['If-Match', 'If-None-Match'],
  answers: {
    200: { description: 'The file was replaced.', schema: changedSchema },
    201: { description: 'The file was created.', schema: changedSchema },
  },
  run: async (context, _query, body) => {
    const { service, exchange, limits } = context;
    const decode = body.encoding === 'utf8' ? encodeText : decodeBase64;
    const bytes = decode(body.content, limits.fileBytes);
    const creates = mustCreate(exchange);
    if (creates && exchange.request.headers['if-match'] !== undefined) {
      throw invalidField('if-match', 'contradicts if-none-match');
    }
    return await inWorkspace(context, body.cwd, async (capability) => {
      const path = targetOf(context, body.path);
      const options = { signal: exchange.signal };
      if (!creates) {
        const base = await baseOfChange(context, capability, path);
        return changedAnswer(200, await service.files.replace(capability, path, bytes, base, options));
      }
      try {
        return changedAnswer(201, await service.files.create(capability, path, bytes, options));
      } catch (error) {
        throw asFailedPrecondition(error);
      }
    });
  },
});

/** `If-None-Match: *` is a precondition, and its failure is 412 (RFC 9110, 13.1.2). */
function asFailedPrecondition(error: unknown): unknown {
  if (!isAuthorityError(error) || error.code !== 'already_exists') return error;
  return new AuthorityError('precondition_failed', { cause: error });
}
