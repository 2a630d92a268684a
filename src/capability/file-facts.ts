import { fileFacts } from '../native/binding.ts';

const nanosecondsPerMillisecond = 1e6;
const anyExecuteBit = 0o111n;
/** S_IFMT and two of its values (inode(7)). */
const typeBits = 0o170000n;
const directoryType = 0o040000n;
const regularType = 0o100000n;

/** Room for the facts of one file, to be filled by an operation of a directory handle. */
export function emptyFacts(): BigInt64Array {
  return new BigInt64Array(fileFacts.count);
}

export function sizeOf(facts: BigInt64Array): number {
  return Number(facts[fileFacts.size]);
}

export function modifiedMsOf(facts: BigInt64Array): number {
  return Number(facts[fileFacts.modifiedNs]) / nanosecondsPerMillisecond;
}

export function changedMsOf(facts: BigInt64Array): number {
  return Number(facts[fileFacts.changedNs]) / nanosecondsPerMillisecond;
}

export function isExecutable(facts: BigInt64Array): boolean {
  return (modeOf(facts) & anyExecuteBit) !== 0n;
}

export function modeOf(facts: BigInt64Array): bigint {
  return facts[fileFacts.mode] ?? 0n;
}

export function isDirectoryMode(mode: bigint): boolean {
  return (mode & typeBits) === directoryType;
}

export function isRegularMode(mode: bigint): boolean {
  return (mode & typeBits) === regularType;
}

export function ownerOf(facts: BigInt64Array): number {
  return Number(facts[fileFacts.owner]);
}

export function inodeOf(facts: BigInt64Array): bigint {
  return facts[fileFacts.inode] ?? 0n;
}

export function deviceOf(facts: BigInt64Array): bigint {
  return facts[fileFacts.device] ?? 0n;
}

/** Names one state of one inode: any later change moves the change time, but within one tick of the kernel's clock not visibly. */
export function stateKeyOf(facts: BigInt64Array): string {
  const { device, inode, size, modifiedNs, changedNs } = fileFacts;
  return `${facts[device]}:${facts[inode]}:${facts[size]}:${facts[modifiedNs]}:${facts[changedNs]}`;
}
