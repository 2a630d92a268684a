import type { OpenFile } from '../files/workspace-files.ts';
import type { ByteRange } from './byte-range.ts';
import type { Exchange } from './exchange.ts';
import { untilWritable } from './until-writable.ts';

/** Large enough to keep the disk busy, small enough that a stalled caller holds little memory. */
const chunkBytes = 256 * 1024;

/**
 * Sends bytes `start` to `end` (exclusive) as fast as the caller takes them. Stops when the caller is gone, reads nothing for
 * `stallMs`, or the file turns out shorter than it was: then the connection breaks, so that no cut answer looks whole.
 */
export async function streamFile(
  exchange: Exchange,
  file: OpenFile,
  range: ByteRange,
  stallMs: number,
): Promise<void> {
  const { response } = exchange;
  let position = range.start;
  while (position < range.end && !response.destroyed) {
    const bytes = await file.readAt(position, Math.min(chunkBytes, range.end - position));
    if (bytes.length === 0) response.destroy();
    else if (!response.destroyed && !response.write(bytes)) await untilWritable(exchange, stallMs);
    position += bytes.length;
  }
  if (!response.destroyed) response.end();
}
