import { z } from 'zod';
import type { BeneathPath } from '../../capability/beneath-path.ts';
import type { FileCapability } from '../../capability/file-capability.ts';
import { AuthorityError, isAuthorityError } from '../../errors/index.ts';
import type { OpenFile } from '../../files/workspace-files.ts';
import { attachment } from '../attachment.ts';
import { type ByteRange, parseByteRange } from '../byte-range.ts';
import { type Answer, defineRoute, type Route } from '../define-route.ts';
import { hasCurrentVersion, rangeStillHolds } from '../entity-tags.ts';
import { pathField, selectorField } from '../fields.ts';
import { imageType } from '../image-types.ts';
import { inWorkspace, targetOf } from '../in-workspace.ts';
import type { RouteContext } from '../route-context.ts';
import { answerHeaders } from '../send-answer.ts';
import { streamFile } from '../stream-file.ts';

/**
 * The bytes of a file: images inline, anything else only as a download, so that no page of a workspace runs in this origin
 * (nosniff, a sandboxing CSP and CORP stand on every answer).
 */
export const rawRoute: Route = defineRoute({
  method: 'GET',
  path: '/raw',
  answersHead: true,
  summary: 'Bytes of an image, or of any regular file as a download.',
  query: z.strictObject({ cwd: selectorField, path: pathField, download: z.literal('1').optional() }),
  requestHeaders: ['If-Match', 'If-None-Match', 'Range', 'If-Range'],
  shapeTexts: { cwd: 'cwd and path required', path: 'cwd and path required' },
  answers: {
    200: { description: 'The whole file.', mediaType: 'application/octet-stream' },
    206: { description: 'The requested range.', mediaType: 'application/octet-stream' },
    304: { description: 'The caller has this version.' },
  },
  run: (context, query) =>
    inWorkspace(context, query.cwd, async (capability) => {
      const type = query.download === '1' ? 'application/octet-stream' : imageType(query.path);
      // The root itself is the one directory that has a spelling; it is no image.
      if (type === null && query.path === '.') throw new AuthorityError('media_type_not_served');
      const path = targetOf(context, query.path);
      using file = await openServed(context, capability, path, type);
      const disposition = query.download === '1' ? ['Content-Disposition', attachment(path)] : [];
      return await sendFile(context, file, ['Content-Type', type ?? '', ...disposition]);
    }),
});

/** Where a path leads is checked before what it is, and the media type before whether it is a file. */
async function openServed(
  { service }: RouteContext,
  capability: FileCapability,
  path: BeneathPath,
  type: string | null,
): Promise<OpenFile> {
  try {
    const file = await service.files.open(capability, path);
    if (type !== null) return file;
    file[Symbol.dispose]();
  } catch (error) {
    if (type !== null || !isAuthorityError(error) || error.code !== 'not_regular_file') throw error;
  }
  throw new AuthorityError('media_type_not_served');
}

async function sendFile(
  context: RouteContext,
  file: OpenFile,
  described: readonly string[],
): Promise<Answer | null> {
  const { exchange, limits } = context;
  const { request, response } = exchange;
  const etag = file.size <= limits.taggedBytes ? await file.etag() : null;
  const tag = etag === null ? [] : ['ETag', etag];
  if (hasCurrentVersion(exchange, etag)) return { status: 304, body: {}, headers: tag };
  const range = rangeStillHolds(exchange, etag) ? requestedRange(context, file.size) : null;
  const { start, end } = range ?? { start: 0, end: file.size };
  const headers = [...answerHeaders(exchange), ...described, ...tag, 'Accept-Ranges', 'bytes'];
  headers.push('Content-Length', String(end - start));
  if (range !== null) headers.push('Content-Range', `bytes ${start}-${end - 1}/${file.size}`);
  response.writeHead(range === null ? 200 : 206, headers);
  if (request.method === 'HEAD') response.end();
  else await streamFile(exchange, file, { start, end }, limits.stallTimeoutMs);
  return null;
}

/**
 * The range to send, or null where the whole file is the answer. Range has no meaning for HEAD (RFC 9110, 14.2).
 * @throws `range_not_satisfiable` (sets Content-Range)
 */
function requestedRange({ exchange }: RouteContext, size: number): ByteRange | null {
  const { request, response } = exchange;
  const header = request.headers.range;
  if (header === undefined || request.method === 'HEAD') return null;
  const range = parseByteRange(header, size);
  if (range !== 'unsatisfiable') return range;
  response.setHeader('Content-Range', `bytes */${size}`);
  throw new AuthorityError('range_not_satisfiable', { details: { size } });
}
