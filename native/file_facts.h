#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>

namespace workspace_authority {

/** `fileFacts` of binding.ts, in its order. */
struct FileFacts {
  static constexpr std::size_t count = 9;

  std::int64_t size = 0;
  std::int64_t modified_ns = 0;
  std::int64_t changed_ns = 0;
  std::int64_t inode = 0;
  std::int64_t device = 0;
  std::int64_t mode = 0;
  std::int64_t link_count = 0;
  std::int64_t birth_ns = 0;
  std::int64_t owner = 0;

  static FileFacts of(const struct statx& facts);
  void copy_to(std::int64_t* slots) const;
  /** Whether it is the same inode, untouched between the two looks as far as size and times tell. */
  [[nodiscard]] bool same_version(const FileFacts& other) const;
};

}  // namespace workspace_authority
