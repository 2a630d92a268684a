#pragma once

#include <sys/stat.h>

#include "result.h"
#include "transaction/inode.h"
#include "unique_fd.h"

namespace workspace_authority {

/** An object of any type, held by O_PATH only to keep its inode number from being given to another one. */
struct Pinned {
  UniqueFd pin;
  Inode inode;
  mode_t mode = 0;

  /** A symbolic link itself, never its target. */
  static Result<Pinned> at(int directory, const char* name);
};

}  // namespace workspace_authority
