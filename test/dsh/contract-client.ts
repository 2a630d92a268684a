import { request } from 'node:http';

/**
 * A client of the wire contract, section 0: it reads what existing clients read, as they read it, and stops where they would stumble. It never looks at the
 * status; every body must be a JSON object; `ok` decides.
 */
export interface ContractClientOptions {
  readonly port: number;
  /** What a browser adds by itself: its cookies, the name it used. A header given as null is not sent. */
  readonly headers?: Readonly<Record<string, string | null>>;
}

export type Body = Readonly<Record<string, unknown>>;

export type Outcome<Value> =
  | { readonly ok: true; readonly value: Value; readonly body: Body; readonly status: number }
  | { readonly ok: false; readonly text: string; readonly body: Body; readonly status: number };

/** The client would throw, or show nonsense. */
class ContractBroken extends Error {}

type Read<Value> = (fields: FieldReader) => Value;

export class ContractClient {
  readonly #options: ContractClientOptions;

  constructor(options: ContractClientOptions) {
    this.#options = options;
  }

  detect(path: string) {
    return this.#get('/detect', { path }, (fields) => {
      if (!fields.boolean('isGit')) return null;
      return {
        isLinkedWorktree: fields.boolean('isLinkedWorktree'),
        managed: fields.boolean('managed'),
        mainRepoRoot: fields.text('mainRepoRoot'),
        repoRoot: fields.text('repoRoot'),
        branch: fields.textOrNull('branch'),
        sourceWorkspaceTitle: fields.textOrAbsent('sourceWorkspaceTitle'),
      };
    });
  }

  branches(cwd: string) {
    return this.#get('/branches', { cwd }, (fields) => {
      if (!fields.boolean('isGit')) return [];
      fields.textOrNull('defaultBranch');
      return fields.list('branches', (branch) => ({
        name: branch.text('name'),
        hasLocal: branch.boolean('hasLocal'),
        hasRemote: branch.boolean('hasRemote'),
        current: branch.boolean('current'),
        localAhead: branch.numberOrAbsent('localAhead'),
        localBehind: branch.numberOrAbsent('localBehind'),
      }));
    });
  }

  worktrees(cwd: string) {
    return this.#get('/worktrees', { cwd }, (fields) =>
      fields.list('items', (item) => ({ path: item.text('path'), managed: item.boolean('managed') })),
    );
  }

  pulls(cwd: string) {
    return this.#get('/pulls', { cwd }, (fields) => {
      if (fields.text('authState') === 'partial') fields.text('error');
      return fields.list('items', (item) => item.number('number'));
    });
  }

  pull(cwd: string, number: number) {
    return this.#get('/pull', { cwd, number: String(number) }, (fields) =>
      fields.object('item', (item) => item.number('number')),
    );
  }

  create(cwd: string, wish: object) {
    return this.#post('/worktrees', { cwd, ...wish }, (fields) => ({
      workspaceId: fields.text('workspaceId'),
      path: fields.text('path'),
      branch: fields.text('branch'),
    }));
  }

  archive(path: string, force = false) {
    const body = { path, deferWorkspaceDelete: true, ...(force ? { force } : {}) };
    return this.#post('/worktrees/archive', body, (fields) => ({
      path: fields.text('path'),
      token: fields.textOrAbsent('workspaceDeletionToken'),
    }));
  }

  deferred(cwd: string) {
    return this.#get('/worktrees/deferred', { cwd }, (fields) =>
      fields.list('items', (item) => ({ token: item.text('token'), path: item.text('path') })),
    );
  }

  finalize(cwd: string, token: string) {
    return this.#post('/worktrees/finalize-delete', { cwd, token }, (fields) => fields.text('workspaceId'));
  }

  worktreeWorkspaces() {
    return this.#get('/worktree-workspaces', {}, (fields) =>
      fields.list('items', (item) => item.text('workspaceId')),
    );
  }

  snapshots(cwds: readonly string[]) {
    return this.#post('/snapshots', { cwds }, (fields) =>
      fields.object('byCwd', (byCwd) =>
        cwds.map((cwd) =>
          byCwd.object(cwd, (snapshot) => ({
            cwd: snapshot.text('cwd'),
            isGit: snapshot.boolean('isGit'),
            at: snapshot.number('at'),
          })),
        ),
      ),
    );
  }

  diff(cwd: string, query: Readonly<Record<string, string>> = {}) {
    return this.#get('/diff', { cwd, w: '1', ...query }, (fields) => ({
      files: fields.list('files', (file) => ({
        path: file.text('path'),
        hunks: file.list('hunks', (hunk) =>
          hunk.list('lines', (line) => line.text('type') + line.text('content')),
        ),
      })),
    }));
  }

  actions(cwd: string) {
    return this.#get('/actions', { cwd }, (fields) =>
      fields.list('ladder', (entry) => ({
        id: entry.text('id'),
        disabled: entry.booleanOrAbsent('disabled'),
        reasonKey: entry.textOrNull('reasonKey'),
      })),
    );
  }

  commits(cwd: string, base: string) {
    return this.#get('/commits', { cwd, base }, (fields) =>
      fields.list('commits', (commit) => ({
        sha: commit.text('sha'),
        short: commit.text('short'),
        subject: commit.text('subject'),
        at: commit.number('at'),
        unpushed: commit.boolean('unpushed'),
      })),
    );
  }

  /** Null where the client shows something else than text. */
  file(cwd: string, path: string) {
    return this.#get('/file', { cwd, path }, (fields) => {
      if (fields.text('kind') !== 'text') return null;
      return { content: fields.text('content'), sha1: fields.text('sha1') };
    });
  }

  save(cwd: string, path: string, content: string, baseSha1: string) {
    return this.#post('/file', { cwd, path, content, baseSha1 }, (fields) => fields.text('sha1'));
  }

  action(cwd: string, name: string, params: object = {}) {
    return this.#post('/action', { cwd, name, params }, () => name);
  }

  #get<Value>(
    path: string,
    query: Readonly<Record<string, string>>,
    read: Read<Value>,
  ): Promise<Outcome<Value>> {
    return this.#call('GET', `${path}?${new URLSearchParams(query)}`, {}, undefined, read);
  }

  #post<Value>(path: string, body: object, read: Read<Value>): Promise<Outcome<Value>> {
    const headers = {
      'content-type': 'application/json',
      origin: `http://127.0.0.1:${this.#options.port}`,
      'sec-fetch-site': 'same-origin',
    };
    return this.#call('POST', path, headers, JSON.stringify(body), read);
  }

  async #call<Value>(
    method: string,
    path: string,
    headers: Readonly<Record<string, string>>,
    body: string | undefined,
    read: Read<Value>,
  ): Promise<Outcome<Value>> {
    const all = { accept: 'application/json', ...headers, ...this.#options.headers };
    const sent = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== null));
    const { status, text } = await exchange(
      this.#options.port,
      method,
      path,
      sent as Record<string, string>,
      body,
    );
    const parsed = parseObject(text);
    if (parsed['ok'] === true)
      return { ok: true, value: read(new FieldReader(parsed)), body: parsed, status };
    // Truthy is enough for the client.
    if (parsed['ok'] !== false) throw new ContractBroken(`ok is neither true nor false: ${text}`);
    return { ok: false, text: failureText(parsed), body: parsed, status };
  }
}

/** As the client words it: of actions the localised reason first, and what conflicts and where to go last. */
function failureText(body: Body): string {
  const { reasonKey, message, error, conflictFiles, recoveryCwd } = body as Record<string, unknown>;
  const nested = typeof error === 'object' && error !== null ? (error as Body)['message'] : undefined;
  const text = [reasonKey, message, error, nested].find((one) => typeof one === 'string' && one !== '');
  if (typeof text !== 'string') throw new ContractBroken(`a failure says nothing: ${JSON.stringify(body)}`);
  if (conflictFiles !== undefined && !Array.isArray(conflictFiles))
    throw new ContractBroken('conflictFiles is no list');
  if (recoveryCwd !== undefined && typeof recoveryCwd !== 'string')
    throw new ContractBroken('recoveryCwd is no text');
  return [text, ...((conflictFiles as readonly string[] | undefined) ?? []), recoveryCwd ?? '']
    .join(' ')
    .trim();
}

function parseObject(text: string): Body {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new ContractBroken(`a body is no JSON: ${JSON.stringify(text.slice(0, 80))}`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new ContractBroken('a body is no object');
  return value as Body;
}

/** Reads one field after the other, each with the type that the client relies on. */
class FieldReader {
  readonly #fields: Body;

  constructor(fields: Body) {
    this.#fields = fields;
  }

  text(name: string): string {
    return this.#take(
      name,
      (value) => (typeof value === 'string' && value !== '') || (name === 'content' && value === ''),
    );
  }

  textOrNull(name: string): string | null {
    return this.#fields[name] === null ? null : this.text(name);
  }

  textOrAbsent(name: string): string | undefined {
    return this.#fields[name] === undefined ? undefined : this.text(name);
  }

  boolean(name: string): boolean {
    return this.#take(name, (value) => typeof value === 'boolean');
  }

  booleanOrAbsent(name: string): boolean | undefined {
    return this.#fields[name] === undefined ? undefined : this.boolean(name);
  }

  number(name: string): number {
    return this.#take(name, Number.isFinite);
  }

  numberOrAbsent(name: string): number | undefined {
    return this.#fields[name] === undefined ? undefined : this.number(name);
  }

  object<Value>(name: string, read: Read<Value>): Value {
    return read(new FieldReader(this.#take(name, (value) => typeof value === 'object' && value !== null)));
  }

  list<Value>(name: string, read: Read<Value>): readonly Value[] {
    return this.#take<readonly Body[]>(name, Array.isArray).map((item) => read(new FieldReader(item)));
  }

  #take<Value>(name: string, accepts: (value: unknown) => boolean): Value {
    const value = Object.hasOwn(this.#fields, name) ? this.#fields[name] : undefined;
    if (!accepts(value)) throw new ContractBroken(`${name} is ${JSON.stringify(value)}`);
    return value as Value;
  }
}

function exchange(
  port: number,
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  body: string | undefined,
): Promise<{ readonly status: number; readonly text: string }> {
  return new Promise((resolve, reject) => {
    const url = `/better-workspaces/api${path}`;
    const call = request(
      { host: '127.0.0.1', port, path: url, method, headers, agent: false },
      (response) => {
        const parts: Buffer[] = [];
        response.on('data', (part: Buffer) => parts.push(part));
        response.on('error', reject);
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, text: Buffer.concat(parts).toString() }),
        );
      },
    );
    call.on('error', reject);
    call.end(body);
  });
}
