import { z } from 'zod';
import { errorCodes } from '../errors/index.ts';
import type { DocumentedAnswer, Route } from './define-route.ts';

type Json = Record<string, unknown>;

/**
 * The OpenAPI 3.1 description of the routes, made from the schemas that check the requests. Deterministic: the same routes give
 * the same text.
 */
export function describeApi(routes: readonly Route[], base: string): Json {
  const paths: Record<string, Json> = {};
  for (const route of routes) {
    const operations = paths[route.path] ?? {};
    operations[route.method.toLowerCase()] = describeOperation(route);
    if (route.answersHead)
      operations['head'] = { ...describeOperation(route), operationId: `head${pathWords(route)}` };
    paths[route.path] = operations;
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'workspace-authority',
      version: '1',
      description:
        'A selector names a registered workspace; every operation acts beneath its held root. Failures of every route have one body.',
    },
    servers: [{ url: base }],
    security: [{ bearer: [] }, { session: [] }],
    paths,
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer' },
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: 'workspace-authority-<port>',
          description: 'Set by the one-time URL.',
        },
      },
      schemas: { Problem: problemSchema },
      responses: { Problem: problemResponse },
    },
  };
}

const problemSchema: Json = {
  type: 'object',
  description:
    'RFC 9457. On /file, `ok` stays true and `kind` tells a missing, binary, too large or non-regular file.',
  required: ['ok', 'code', 'error', 'message', 'type', 'title', 'status', 'requestId', 'retryable'],
  properties: {
    ok: { type: 'boolean' },
    code: { type: 'string', enum: Object.keys(errorCodes).sort() },
    error: { type: 'string', description: 'The literal older clients compare; else the code.' },
    message: { type: 'string' },
    type: { type: 'string', format: 'uri' },
    title: { type: 'string' },
    detail: { type: 'string' },
    status: { type: 'integer' },
    requestId: { type: 'string' },
    retryable: { type: 'boolean' },
    details: { type: 'object' },
    sha1: { type: 'string', description: 'With `conflict`: the version that stands there now.' },
    etag: {
      type: 'string',
      description: 'With `conflict` and `precondition_failed`: the same as an entity tag.',
    },
    reasonKey: { type: 'string', description: 'Of an action: the key of its text.' },
    params: { type: 'object', description: 'What fills the text in.' },
    reason: { type: 'string' },
    partial: { type: 'boolean', description: 'Of an action: it had changed something before it failed.' },
    stage: { type: 'string', description: 'Where it failed.' },
    staged: { type: 'boolean', description: 'Whether changes were taken into the index.' },
    conflictFiles: {
      type: 'array',
      items: { type: 'string' },
      description: 'Of a merge: files with conflicts, 20 at most.',
    },
    recovery: { type: 'object', description: 'What stands in the checkout then, and how to go on.' },
    recoveryCwd: { type: 'string', description: 'Root of that checkout.' },
    kind: { type: 'string', enum: ['missing', 'not-file', 'too_large', 'binary'] },
    size: { type: 'integer' },
  },
};

const problemResponse: Json = {
  description: 'Any failure of any route.',
  content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
};

function describeOperation(route: Route): Json {
  const { definition } = route;
  const responses: Json = {};
  for (const [status, answer] of Object.entries(definition.answers))
    responses[status] = describeAnswer(answer);
  responses['default'] = { $ref: '#/components/responses/Problem' };
  const parameters = [...queryParameters(route), ...headerParameters(route)];
  return {
    operationId: `${route.method.toLowerCase()}${pathWords(route)}`,
    summary: definition.summary,
    ...(route.access === 'anyone' ? { security: [] } : {}),
    ...(route.access === 'operator' ? { 'x-operator-only': true } : {}),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(definition.body === undefined
      ? {}
      : {
          requestBody: {
            required: true,
            content: { 'application/json': { schema: asJsonSchema(definition.body, 'input') } },
          },
        }),
    responses,
  };
}

function describeAnswer(answer: DocumentedAnswer): Json {
  if (answer.schema !== undefined) {
    const schema = asJsonSchema(answer.schema, 'output');
    return { description: answer.description, content: { 'application/json': { schema } } };
  }
  if (answer.mediaType === undefined) return { description: answer.description };
  return { description: answer.description, content: { [answer.mediaType]: {} } };
}

function queryParameters(route: Route): Json[] {
  if (route.definition.query === undefined) return [];
  const schema = asJsonSchema(route.definition.query, 'input') as { properties?: Json; required?: string[] };
  return Object.entries(schema.properties ?? {}).map(([name, property]) => ({
    name,
    in: 'query',
    required: schema.required?.includes(name) === true,
    schema: property,
  }));
}

function headerParameters(route: Route): Json[] {
  return (route.definition.requestHeaders ?? []).map((name) => ({
    name,
    in: 'header',
    required: false,
    schema: { type: 'string' },
  }));
}

function asJsonSchema(schema: z.ZodType, io: 'input' | 'output'): Json {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io, target: 'draft-2020-12' });
  return rest as Json;
}

/** `/workspaces/confirm` becomes `WorkspacesConfirm`. */
function pathWords(route: Route): string {
  return route.path
    .split(/[/.-]/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');
}
