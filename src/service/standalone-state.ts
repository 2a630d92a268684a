import { randomBytes } from 'node:crypto';
import { openStateDirectory, type StateDirectory } from '../capability/state-directory.ts';
import { StateFile, type StateFormat } from '../capability/state-file.ts';
import { defaultStateDirectory } from '../capability/state-location.ts';
import type { StateLog } from '../capability/state-log.ts';
import type { NativeBinding } from '../native/binding.ts';
import { loadBinding } from '../native/index.ts';

export interface StandaloneStateOptions {
  /** Absolute path; default as `createService`. */
  readonly stateDirectory?: string;
  readonly binding?: NativeBinding;
  /** Told the first failure of each row of failures to write the audit. */
  readonly onAuditFailure?: (error: unknown) => void;
}

/** What a server that stands alone keeps beside the registry: the operator's token and the audit. */
export interface StandaloneState extends AsyncDisposable {
  /** The token in force now; asked at every request. @throws `state_unavailable` when the file is damaged, foreign or gone */
  readonly token: { current(): string | Promise<string> };
  /** Path of the file that holds the token. */
  readonly tokenFile: string;
  /** Replaces the token; the old one fails from now on, in every process. @throws `state_unavailable` */
  rotateToken(): Promise<string>;
  /** One JSON line an event in `audit.jsonl`. */
  readonly audit: { record(event: object): void };
  close(): Promise<void>;
}

/**
 * Opens the state directory and makes a token (`token`, mode 0600, one line) when there is none.
 * @throws `state_unavailable` | `kernel_capability_missing` | `platform_unsupported`
 */
export async function openStandaloneState(options: StandaloneStateOptions = {}): Promise<StandaloneState> {
  const path = options.stateDirectory ?? defaultStateDirectory();
  const state = await openStateDirectory(path, options.binding ?? loadBinding());
  try {
    const token = new StateFile(state, tokenFormat);
    await token.update((present) => (present === '' ? newToken() : present));
    return new OpenedStandaloneState(state, token, options.onAuditFailure ?? (() => undefined));
  } catch (error) {
    state.close();
    throw error;
  }
}

/** 43 characters of our own making, or whatever a person put there that a header can carry (RFC 6750, 2.1) and nobody guesses. */
const tokenShape = /^[\w.~+/-]{32,512}=*$/;
const tokenBytes = 32;

/** Plain text, so that a shell can use it. */
const tokenFormat: StateFormat<string> = {
  name: 'token',
  limit: 1024,
  unavailable: 'state_unavailable',
  // Deleting the file is how a person asks the next start for another token.
  remembered: false,
  empty: () => '',
  parse: (bytes) => {
    const text = Buffer.from(bytes).toString('latin1').trimEnd();
    if (tokenShape.test(text)) return text;
    throw new Error('does not hold one token of 32 to 512 characters');
  },
  print: (token) => Buffer.from(`${token}\n`),
};

function newToken(): string {
  return randomBytes(tokenBytes).toString('base64url');
}

class OpenedStandaloneState implements StandaloneState {
  readonly token: StandaloneState['token'];
  readonly audit: StandaloneState['audit'];
  readonly tokenFile: string;
  readonly #state: StateDirectory;
  readonly #token: StateFile<string>;
  readonly #log: StateLog;

  constructor(state: StateDirectory, token: StateFile<string>, onAuditFailure: (error: unknown) => void) {
    const log = state.openLog('audit.jsonl', onAuditFailure);
    this.#state = state;
    this.#token = token;
    this.#log = log;
    this.tokenFile = `${state.path}/${tokenFormat.name}`;
    this.token = { current: () => token.current() };
    this.audit = { record: (event) => log.append(JSON.stringify(event)) };
  }

  async rotateToken(): Promise<string> {
    return this.#token.update(newToken);
  }

  async close(): Promise<void> {
    await this.#log.close();
    this.#state.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
