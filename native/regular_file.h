#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "held_descriptor.h"
#include "resolve.h"
#include "result.h"
#include "unique_fd.h"

namespace workspace_authority {

/** `fileFacts` of binding.ts, in its order. */
struct FileFacts {
  static constexpr std::size_t count = 8;

  std::int64_t size = 0;
  std::int64_t modified_ns = 0;
  std::int64_t changed_ns = 0;
  std::int64_t inode = 0;
  std::int64_t device = 0;
  std::int64_t mode = 0;
  std::int64_t link_count = 0;
  std::int64_t birth_ns = 0;

  static FileFacts of(const struct statx& facts);
  void copy_to(std::int64_t* slots) const;
  /** Whether it is the same inode, untouched between two looks as far as size and times tell. */
  [[nodiscard]] bool same_version(const FileFacts& other) const;
};

struct OpenFile {
  UniqueFd fd;
  FileFacts facts;
};

/**
 * Opens a regular file for reading, or refuses with WA_NOT_REGULAR (EISDIR is not used). Opening a FIFO releases a
 * waiting writer and opening a device may do anything, so the object is looked at through O_PATH first, unless
 * `known_regular` says that this name was one when last seen; what was opened is checked in any case. Never waits for a
 * FIFO, a terminal or a lease. `path` is relative to `directory`, which is the root itself or was opened beneath it.
 */
Result<OpenFile> open_regular(int directory, const HeldDirectory& root, const char* path, Lookup lookup,
                              bool known_regular);

/** Facts of an open regular file; WA_NOT_REGULAR for anything else. */
Result<FileFacts> regular_facts(int fd);

}  // namespace workspace_authority
