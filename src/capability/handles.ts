/** The part of the native contract that the rooms above this one may name: held handles and the facts they give. */
export {
  type DirectoryHandle,
  type FileHandle,
  fileFacts,
  type NativeBinding,
  type NativeEntry,
  type NativeListing,
  type NativePath,
} from '../native/binding.ts';
