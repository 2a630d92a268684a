#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "held_descriptor.h"
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
 * openat2(2) beneath a held directory with the fixed policy: RESOLVE_BENEATH, NO_MAGICLINKS, NO_SYMLINKS, and NO_XDEV
 * unless the directory allows mounts. `path` is one that arguments.h has let through, NUL-terminated.
 */
Result<UniqueFd> open_beneath(const HeldDirectory& root, const char* path, std::uint64_t flags,
                              Lookup lookup = Lookup::may_block, std::uint64_t mode = 0);

/** A directory that a name is about to be changed in. */
struct Parent {
  /** O_RDONLY, so that it can be synced (an O_PATH descriptor cannot). */
  UniqueFd directory;
  /** Last component. */
  std::string name;
};

/**
 * Opens the directory that holds the last component of `path`, proven by the guard (may be null) to be open and not to
 * lie in a closed directory at some moment after this call began. Pool threads only.
 */
Result<Parent> open_parent(const HeldDirectory& root, std::string_view path, PathGuard* guard);

}  // namespace workspace_authority
