#include "file_facts.h"

#include <cstring>

#include "identity.h"

namespace workspace_authority {

FileFacts FileFacts::of(const struct statx& facts) {
  FileFacts result;
  result.size = static_cast<std::int64_t>(facts.stx_size);
  result.modified_ns = nanoseconds(facts.stx_mtime);
  result.changed_ns = nanoseconds(facts.stx_ctime);
  result.inode = static_cast<std::int64_t>(facts.stx_ino);
  result.device = static_cast<std::int64_t>(device_of(facts));
  result.mode = facts.stx_mode;
  result.link_count = facts.stx_nlink;
  result.birth_ns = (facts.stx_mask & STATX_BTIME) != 0 ? nanoseconds(facts.stx_btime) : 0;
  result.owner = facts.stx_uid;
  return result;
}

void FileFacts::copy_to(std::int64_t* slots) const {
  static_assert(sizeof(FileFacts) == count * sizeof(std::int64_t));
  std::memcpy(slots, this, sizeof *this);
}

bool FileFacts::same_version(const FileFacts& other) const {
  return inode == other.inode && device == other.device && size == other.size && modified_ns == other.modified_ns &&
         changed_ns == other.changed_ns;
}

}  // namespace workspace_authority
