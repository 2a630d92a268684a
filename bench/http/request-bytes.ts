/** How to reach a server of a trial. */
export interface Target {
  readonly port: number;
  readonly token: string;
}

export interface RequestParts {
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: object;
}

/** The bytes of one request as a client on the same machine sends them. `path` includes the query. */
export function requestBytes(
  { port, token }: Target,
  method: string,
  path: string,
  { headers = {}, body }: RequestParts = {},
): Buffer {
  const host = `127.0.0.1:${port}`;
  const lines = [`${method} ${path} HTTP/1.1`, `Host: ${host}`, `Authorization: Bearer ${token}`];
  for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${value}`);
  let text = '';
  if (body !== undefined) {
    text = JSON.stringify(body);
    lines.push(`Origin: http://${host}`, 'Content-Type: application/json');
    lines.push(`Content-Length: ${Buffer.byteLength(text)}`);
  }
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${text}`);
}

export function queryPath(path: string, fields: Readonly<Record<string, string>>): string {
  return `${path}?${new URLSearchParams(fields)}`;
}
