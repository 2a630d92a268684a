import { connect, type Socket } from 'node:net';

export interface Answer {
  readonly status: number;
  readonly body: Buffer;
}

const headEnd = Buffer.from('\r\n\r\n');
const none = Buffer.alloc(0);

/**
 * One kept-alive HTTP/1.1 connection that sends prepared bytes and reads answers with a Content-Length. It does as little as it
 * can, so that on a small machine the server and not the load generator is what is measured.
 */
export class Connection {
  readonly #socket: Socket;
  #received: Buffer = none;
  #bodyless = false;
  #waiting: { resolve(answer: Answer): void; reject(error: Error): void } | null = null;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on('data', (chunk) => this.#take(chunk));
    socket.on('error', (error) => this.#fail(error));
    socket.on('close', () => this.#fail(new Error('the server closed the connection')));
  }

  static open(port: number): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1', () => resolve(new Connection(socket)));
      socket.once('error', reject);
    });
  }

  /** One request at a time. */
  exchange(request: Buffer): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#bodyless = request.subarray(0, 5).equals(Buffer.from('HEAD '));
      this.#waiting = { resolve, reject };
      this.#socket.write(request);
    });
  }

  /** Sends a request and closes the connection when the first bytes of the answer have come. */
  abandon(request: Buffer): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve: () => resolve(), reject };
      this.#socket.removeAllListeners('data');
      this.#socket.once('data', () => {
        this.#waiting = null;
        this.#socket.once('close', () => resolve());
        this.#socket.destroy();
      });
      this.#socket.write(request);
    });
  }

  close(): void {
    this.#socket.destroy();
  }

  #take(chunk: Buffer): void {
    this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk]);
    const end = this.#received.indexOf(headEnd);
    if (end < 0) return;
    const head = this.#received.toString('latin1', 0, end);
    const status = Number(head.slice(9, 12));
    const hasBody = !this.#bodyless && status !== 204 && status !== 304;
    const length = hasBody ? contentLength(head) : 0;
    if (length === null) {
      this.#fail(new Error('an answer without Content-Length'));
      return;
    }
    const whole = end + headEnd.length + length;
    if (this.#received.length < whole) return;
    const body = this.#received.subarray(end + headEnd.length, whole);
    this.#received = this.#received.subarray(whole);
    const waiting = this.#waiting;
    this.#waiting = null;
    waiting?.resolve({ status, body });
  }

  #fail(error: Error): void {
    this.#waiting?.reject(error);
    this.#waiting = null;
    this.#socket.destroy();
  }
}

function contentLength(head: string): number | null {
  const found = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  return found === undefined ? null : Number(found);
}
