/** What a request may look like, before anything is asked of it. */
export const requestCodes = {
  invalid_request: { kind: 'invalid', status: 400, title: 'The request does not have the documented shape.' },
  invalid_path: { kind: 'invalid', status: 400, title: 'The path is not a plain relative path.' },
  malformed_json: {
    kind: 'invalid',
    status: 400,
    title: 'The body is not valid JSON.',
    legacy: 'malformed JSON',
  },
  json_object_required: {
    kind: 'invalid',
    status: 400,
    title: 'The body must be a JSON object.',
    legacy: 'JSON object required',
  },
  json_required: {
    kind: 'invalid',
    status: 415,
    title: 'This method accepts only application/json.',
    legacy: 'application/json required',
  },
  body_too_large: {
    kind: 'invalid',
    status: 413,
    title: 'The request body is too large.',
    legacy: 'body too large',
  },
  too_many_workspaces: {
    kind: 'invalid',
    status: 413,
    title: 'The batch names too many workspaces.',
    legacy: 'too many workspaces',
  },
  headers_too_large: { kind: 'invalid', status: 431, title: 'The request line or headers are too large.' },
  request_timeout: {
    kind: 'invalid',
    status: 408,
    title: 'The request did not arrive in time.',
    retryable: true,
  },
  precondition_required: {
    kind: 'invalid',
    status: 428,
    title: 'The change must name the version it was based on.',
  },
  range_not_satisfiable: {
    kind: 'invalid',
    status: 416,
    title: 'The requested range lies outside the file.',
  },
  unencodable_text: {
    kind: 'invalid',
    status: 422,
    title: 'The text contains code units that UTF-8 cannot carry.',
  },
  route_unknown: { kind: 'missing', status: 404, title: 'There is no such route.', legacy: 'unknown route' },
  method_not_allowed: { kind: 'invalid', status: 405, title: 'The route does not offer this method.' },
} as const;
