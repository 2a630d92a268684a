import { z } from 'zod';
import type { BeneathPath } from '../../capability/beneath-path.ts';
import type { FileCapability } from '../../capability/file-capability.ts';
import { AuthorityError, type ErrorCode, isAuthorityError } from '../../errors/index.ts';
import { type Answer, defineRoute, type Route } from '../define-route.ts';
import { hasCurrentVersion } from '../entity-tags.ts';
import { etagField, okField, pathField, selectorField, sha1Field } from '../fields.ts';
import { decodeText } from '../file-content.ts';
import { imageType } from '../image-types.ts';
import { inWorkspace, targetOf } from '../in-workspace.ts';
import { describeProblem, problemType } from '../problem.ts';
import type { RouteContext } from '../route-context.ts';

/** Outcomes that existing clients read from `kind` with `ok` still true, whatever the status. */
const kinds: Partial<Record<ErrorCode, string>> = {
  not_found: 'missing',
  not_regular_file: 'not-file',
  file_too_large: 'too_large',
  binary_content: 'binary',
};

export const fileGetRoute: Route = defineRoute({
  method: 'GET',
  path: '/file',
  summary: 'Content of a text file, or where to get an image.',
  query: z.strictObject({ cwd: selectorField, path: pathField }),
  requestHeaders: ['If-Match', 'If-None-Match'],
  shapeTexts: { cwd: 'cwd and path required', path: 'cwd and path required' },
  answers: {
    200: {
      description: 'The file.',
      schema: z.union([
        z.strictObject({
          ok: okField,
          kind: z.literal('text'),
          size: z.int().nonnegative(),
          content: z.string(),
          sha1: sha1Field,
          etag: etagField,
        }),
        z.strictObject({
          ok: okField,
          kind: z.literal('image'),
          size: z.int().nonnegative(),
          url: z.string(),
        }),
      ]),
    },
    304: { description: 'The caller has this version.' },
  },
  run: (context, query) =>
    inWorkspace(context, query.cwd, async (capability) => {
      const path = targetOf(context, query.path);
      try {
        return imageType(path) === null
          ? await answerText(context, capability, path)
          : await answerImage(context, capability, path, query.cwd);
      } catch (error) {
        return answerKind(context, error);
      }
    }),
});

async function answerText(
  { service, exchange, limits }: RouteContext,
  capability: FileCapability,
  path: BeneathPath,
): Promise<Answer> {
  const file = await service.files.read(capability, path, { limit: limits.fileBytes });
  const headers = ['ETag', file.etag];
  if (hasCurrentVersion(exchange, file.etag)) return { status: 304, body: {}, headers };
  const content = decodeText(file.bytes);
  if (content === null) throw new AuthorityError('binary_content', { details: { size: file.size } });
  const { size, sha1, etag } = file;
  return { status: 200, body: { ok: true, kind: 'text', size, content, sha1, etag }, headers };
}

async function answerImage(
  { service, exchange, limits }: RouteContext,
  capability: FileCapability,
  path: BeneathPath,
  selector: string,
): Promise<Answer> {
  using file = await service.files.open(capability, path);
  const etag = file.size <= limits.taggedBytes ? await file.etag() : null;
  const headers = etag === null ? [] : ['ETag', etag];
  if (hasCurrentVersion(exchange, etag)) return { status: 304, body: {}, headers };
  const encodedPath = path.split('/').map(encodeURIComponent).join('/');
  const url = `${exchange.base}/raw?cwd=${encodeURIComponent(selector)}&path=${encodedPath}`;
  return { status: 200, body: { ok: true, kind: 'image', size: file.size, url }, headers };
}

function answerKind({ exchange }: RouteContext, error: unknown): Answer {
  const kind = isAuthorityError(error) ? kinds[error.code] : undefined;
  if (!isAuthorityError(error) || kind === undefined) throw error;
  const { size } = error.details;
  return {
    status: error.status,
    contentType: problemType,
    body: { ...describeProblem(error, exchange), ok: true, kind, ...(size === undefined ? {} : { size }) },
  };
}
