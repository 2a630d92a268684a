#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "held_descriptor.h"
#include "mount_table.h"
#include "path_guard.h"
#include "result.h"
#include "unique_fd.h"

namespace workspace_authority {

enum class Lookup {
  /** May wait for the disk; EAGAIN is retried (pool threads only). */
  may_block,
  /** RESOLVE_CACHED: EAGAIN instead of waiting (JavaScript thread). */
  cached_only,
};

/**
 * openat2(2) with the fixed policy of `root` (RESOLVE_BENEATH, NO_MAGICLINKS, NO_SYMLINKS, and NO_XDEV unless it allows
 * mounts), starting at `directory`, which is the root itself or was opened beneath it. `path` is NUL-terminated and one
 * that arguments.h has let through.
 */
Result<UniqueFd> open_from(int directory, const HeldDirectory& root, const char* path, std::uint64_t flags,
                           Lookup lookup = Lookup::may_block, std::uint64_t mode = 0);

inline Result<UniqueFd> open_beneath(const HeldDirectory& root, const char* path, std::uint64_t flags,
                                     Lookup lookup = Lookup::may_block, std::uint64_t mode = 0) {
  return open_from(root.fd(), root, path, flags, lookup, mode);
}

/** An O_PATH descriptor, and who answers for what it refers to. */
struct Probe {
  UniqueFd fd;
  FileSystem file_system;
};

/** `open_from` with O_PATH and `flags`, cached only. */
Result<Probe> probe_from(int directory, const HeldDirectory& root, const char* path, std::uint64_t flags = 0);

/** A path cut before its last component; `directory` is empty for a path of one component. */
struct SplitPath {
  std::string_view directory;
  std::string_view name;

  /** Where the name begins in the path. */
  [[nodiscard]] std::size_t name_offset() const { return directory.empty() ? 0 : directory.size() + 1; }
};
SplitPath split_path(std::string_view path);

/** A directory that a name is about to be changed in. */
struct Parent {
  /** O_RDONLY, so that it can be synced (an O_PATH descriptor cannot). */
  UniqueFd directory;
  /** Last component. */
  std::string name;
};

/**
 * Opens the directory that holds the last component of `path`. With a guard: WA_CLOSED_DIRECTORY when it, a directory
 * above it, or the last component itself (when it is a directory) is closed; all that was found true after this call
 * began. Pool threads only.
 */
Result<Parent> open_parent(const HeldDirectory& root, std::string_view path, PathGuard* guard);

/** Whether the directory of `path` is still the one that `parent` holds, and (with a guard) still open to file access.
 */
Result<bool> parent_stands(const HeldDirectory& root, std::string_view path, const Parent& parent, PathGuard* guard);

}  // namespace workspace_authority
