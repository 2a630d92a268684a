import type { StateFormat } from './state-file.ts';

/** A state file that is a JSON object with a `version`, which is checked before anything else. */
export interface JsonFormat<Content> {
  readonly name: string;
  readonly version: number;
  /** Bytes at most. */
  readonly limit: number;
  readonly unavailable: StateFormat<Content>['unavailable'];
  empty(): Content;
  /** Reads the object without its `version`. @throws Error whose message says what is wrong, and quotes nothing */
  parse(body: Readonly<Record<string, unknown>>): Content;
  /** What `parse` reads. */
  print(content: Content): Readonly<Record<string, unknown>>;
}

export function jsonState<Content>(format: JsonFormat<Content>): StateFormat<Content> {
  const { name, version, limit, unavailable } = format;
  return {
    name,
    limit,
    unavailable,
    remembered: true,
    empty: () => format.empty(),
    parse: (bytes) => {
      const { version: found, ...body } = parseJsonObject(bytes);
      if (found !== version) throw new Error(`does not have version ${version}`);
      return format.parse(body);
    },
    print: (content) => Buffer.from(`${JSON.stringify({ version, ...format.print(content) }, null, 1)}\n`),
  };
}

const decoder = new TextDecoder('utf-8', { fatal: true });

/** @throws Error whose message quotes nothing */
export function parseJsonObject(bytes: Uint8Array): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(decoder.decode(bytes));
  } catch {
    // The parser's own message quotes the content.
    throw new Error('is not valid JSON');
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  throw new Error('is not a JSON object');
}
