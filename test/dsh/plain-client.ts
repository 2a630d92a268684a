import { request } from 'node:http';

export interface PlainRequest {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface PlainAnswer {
  readonly status: number;
  /** Null where the body is no JSON. */
  readonly body: Readonly<Record<string, unknown>> | null;
}

/** One request to the API of a plugin, on a connection of its own and with exactly these headers (fetch lets nobody choose `Host`). */
export function ask(
  port: number,
  path: string,
  { method = 'GET', headers = {}, body }: PlainRequest = {},
): Promise<PlainAnswer> {
  return new Promise((resolve, reject) => {
    const call = request(
      { host: '127.0.0.1', port, path: `/better-workspaces/api${path}`, method, headers, agent: false },
      (response) => {
        const parts: Buffer[] = [];
        response.on('data', (part: Buffer) => parts.push(part));
        response.on('error', reject);
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, body: parse(Buffer.concat(parts)) }),
        );
      },
    );
    call.on('error', reject);
    call.end(body);
  });
}

function parse(bytes: Buffer): Readonly<Record<string, unknown>> | null {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return null;
  }
}
