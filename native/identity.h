#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <optional>

#include "result.h"
#include "syscalls.h"

namespace workspace_authority {

/** NativeIdentity of binding.ts. */
struct Identity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t mount_id = 0;
  bool mount_id_unique = false;
  std::uint64_t file_system_id = 0;
  std::optional<syscalls::FileHandleBytes> handle;
  std::optional<std::int64_t> birth_time_ns;
  std::uint32_t mode = 0;
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::uint32_t link_count = 0;
};

Result<Identity> read_identity(int fd);

std::int64_t nanoseconds(const struct statx_timestamp& time);
/** st_dev as stat(2) packs it. */
std::uint64_t device_of(const struct statx& facts);

}  // namespace workspace_authority
