import type {
  DirectoryHandle,
  FileHandle,
  NativeEntry,
  NativeListing,
  NativePath,
} from '../native/binding.ts';

/** What rooms above know of the native contract: the objects that a held root hands out. */
export type HeldDirectory = DirectoryHandle;
export type HeldFile = FileHandle;
export type HeldPath = NativePath;
export type DirectoryEntry = NativeEntry;
export type DirectoryListing = NativeListing;
