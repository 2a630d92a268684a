import { execFileSync } from 'node:child_process';

/** Extended attributes (xattr(7)) by Python, which the machine has anyway; Node cannot, and setfattr(1) is an extra package. */
function python(script: string, ...words: readonly string[]): string {
  return execFileSync('python3', ['-c', script, ...words], { encoding: 'utf8' });
}

export function setAttribute(path: string, name: string, value: Uint8Array | string): void {
  const script = 'import os, sys; os.setxattr(sys.argv[1], sys.argv[2], bytes.fromhex(sys.argv[3]))';
  python(script, path, name, Buffer.from(value).toString('hex'));
}

/** Every attribute that this user sees, values in hexadecimal. */
export function attributesOf(path: string): Readonly<Record<string, string>> {
  const script = [
    'import json, os, sys',
    'path = sys.argv[1]',
    'print(json.dumps({name: os.getxattr(path, name).hex() for name in sorted(os.listxattr(path))}))',
  ];
  return JSON.parse(python(script.join('\n'), path));
}

const aclTags = {
  user: 0x01,
  namedUser: 0x02,
  group: 0x04,
  namedGroup: 0x08,
  mask: 0x10,
  other: 0x20,
} as const;

export interface AclEntry {
  readonly tag: keyof typeof aclTags;
  readonly permissions: number;
  /** Of a named user or group. */
  readonly id?: number;
}

/** An access list as system.posix_acl_access holds it (acl(5); linux/posix_acl_xattr.h); entries in the order of their tags. */
export function accessList(entries: readonly AclEntry[]): Uint8Array {
  const list = Buffer.alloc(4 + 8 * entries.length);
  list.writeUInt32LE(2);
  for (const [index, { tag, permissions, id }] of entries.entries()) {
    const offset = 4 + 8 * index;
    list.writeUInt16LE(aclTags[tag], offset);
    list.writeUInt16LE(permissions, offset + 2);
    list.writeUInt32LE(id ?? 0xffff_ffff, offset + 4);
  }
  return list;
}
