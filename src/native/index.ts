export * from './binding.ts';
export { type AddonPlace, deathGuardPath, loadBinding } from './load.ts';
export { createNative, type Native } from './native.ts';
export { type FileContent, NativeDirectory, type ReadOptions } from './native-directory.ts';
export { type FileVersion, NativeFile, versionOf } from './native-file.ts';
export { authorityErrorOf, codeOf, errorCodeFor, openat2Hint, syscallOf } from './syscall-error.ts';
