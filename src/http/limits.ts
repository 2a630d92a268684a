/** Bounds on what one request or one caller may take. Bytes and milliseconds. */
export interface HttpLimits {
  /** Larger than the file limit of 1 MiB, since JSON escaping can multiply the bytes of a file by six (W24). */
  readonly bodyBytes: number;
  /** From the first gate to the last byte of the body. */
  readonly bodyTimeoutMs: number;
  /** How long a caller may leave its answer unread before the connection, and the file it holds open, is given up. */
  readonly stallTimeoutMs: number;
  /** Content of one file in `/file`. */
  readonly fileBytes: number;
  /** Requests of one caller being worked on at the same time. */
  readonly requestsPerCaller: number;
  /** Failed authentications of one address within the window before it gets 429. */
  readonly failedAuthentications: number;
  readonly failedAuthenticationWindowMs: number;
  /** Entries of one `/list` page at most. */
  readonly listEntries: number;
  /** Larger files carry no entity tag, so that a download need not be hashed before its first byte. */
  readonly taggedBytes: number;
}

export const defaultLimits: HttpLimits = {
  bodyBytes: 8 * 1024 * 1024,
  bodyTimeoutMs: 30_000,
  stallTimeoutMs: 60_000,
  fileBytes: 1024 * 1024,
  requestsPerCaller: 256,
  failedAuthentications: 20,
  failedAuthenticationWindowMs: 60_000,
  listEntries: 10_000,
  taggedBytes: 256 * 1024 * 1024,
};
