// A FUSE server of a directory that holds the directory `d` and the file `f`, which tells who asks it for what. Names stay
// cached, attributes do not. Arguments: mount point, file system type, source. Layouts: linux/fuse.h.
import { execFile, execFileSync } from 'node:child_process';
import { openSync, read, writeSync } from 'node:fs';

const [target, type, source] = process.argv.slice(2);
const content = Buffer.from('from the server');
const root = 1n;
const entries = { d: 2n, f: 3n };
const names = {
  3: 'GETATTR',
  14: 'OPEN',
  15: 'READ',
  17: 'STATFS',
  25: 'FLUSH',
  27: 'OPENDIR',
  28: 'READDIR',
  52: 'STATX',
};
const headerBytes = 40;
const hourSeconds = 3600n;

/** Fields of 2, 4 and 8 bytes in a row. */
function pack(...fields) {
  return Buffer.concat(
    fields.map(([bytes, value]) => {
      const field = Buffer.alloc(8);
      field.writeBigUInt64LE(BigInt(value));
      return field.subarray(0, bytes);
    }),
  );
}
const half = (...values) => pack(...values.map((value) => [2, value]));
const word = (...values) => pack(...values.map((value) => [4, value]));
const long = (...values) => pack(...values.map((value) => [8, value]));

function attributes(node) {
  const mode = node === entries.f ? 0o100644 : 0o40755;
  const size = node === entries.f ? content.length : 0;
  return Buffer.concat([long(node, size, 0, 1, 1, 1), word(0, 0, 0, mode, 1, 0, 0, 0, 4096, 0)]);
}

/** What is answered to a request: bytes, or an errno. */
function answer(operation, node, body) {
  switch (operation) {
    case 1: {
      const found = node === root ? entries[body.subarray(0, -1).toString()] : undefined;
      if (found === undefined) return 2;
      return Buffer.concat([long(found, 0, hourSeconds, 0), word(0, 0), attributes(found)]);
    }
    case 3:
      return Buffer.concat([long(0), word(0, 0), attributes(node)]);
    case 14:
    case 27:
      return Buffer.concat([long(0), word(0, 0)]);
    case 15: {
      const offset = Number(body.readBigUInt64LE(8));
      return content.subarray(offset, offset + body.readUInt32LE(16));
    }
    case 17:
      return Buffer.concat([long(0, 0, 0, 0, 0), word(512, 255, 512, 0), Buffer.alloc(24)]);
    case 18:
    case 25:
    case 28:
    case 29:
      return Buffer.alloc(0);
    case 26:
      return Buffer.concat([word(7, 31, 65536, 0), half(12, 10), word(65536, 1), Buffer.alloc(32)]);
    default:
      return 38;
  }
}

const device = openSync('/dev/fuse', 'r+');
const requests = [];
const buffer = Buffer.alloc(1 << 20);

/** Whoever asked may have been interrupted: then the kernel knows the request no more (ENOENT), or gave none (EINTR, EAGAIN). */
const nobodyWaits = new Set(['ENOENT', 'EINTR', 'EAGAIN']);

function reply(bytes) {
  try {
    writeSync(device, bytes);
  } catch (error) {
    if (error.code === 'ENODEV') process.exit(0);
    if (error.code !== 'ENOENT') throw error;
  }
}

function serve() {
  read(device, buffer, 0, buffer.length, null, (error, length) => {
    if (error !== null && nobodyWaits.has(error.code)) return serve();
    // ENODEV: unmounted.
    if (error !== null) process.exit(error.code === 'ENODEV' ? 0 : 1);
    const operation = buffer.readUInt32LE(4);
    const body = Buffer.from(buffer.subarray(headerBytes, length));
    // The kernel writes the id of the thread that waits.
    if (operation in names) requests.push({ operation: names[operation], thread: buffer.readUInt32LE(32) });
    // FORGET and BATCH_FORGET want no answer.
    if (operation !== 2 && operation !== 42) {
      const answered = answer(operation, buffer.readBigUInt64LE(16), body);
      const bytes = typeof answered === 'number' ? Buffer.alloc(0) : answered;
      const failed = Buffer.alloc(4);
      failed.writeInt32LE(typeof answered === 'number' ? -answered : 0);
      reply(Buffer.concat([word(16 + bytes.length), failed, buffer.subarray(8, 16), bytes]));
    }
    serve();
  });
}

const options = `fd=3,rootmode=40000,user_id=0,group_id=0,allow_other${type === 'fuseblk' ? ',blksize=512' : ''}`;
execFileSync('mount', ['-i', '-t', type, '-o', options, source, target], {
  stdio: ['ignore', 'ignore', 'pipe', device],
});
process.on('message', () => process.send(requests.splice(0)));
// Served meanwhile, since umount(8) looks at what it unmounts. A mount that is gone already is as good.
process.on('disconnect', () => execFile('umount', ['-l', target], () => undefined));
serve();
process.send('mounted');
