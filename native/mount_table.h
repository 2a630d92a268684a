#pragma once

#include <mutex>
#include <string_view>
#include <unordered_map>

#include "unique_fd.h"

namespace workspace_authority {

/** Who answers for a file system, even after a lookup that memory has answered. */
enum class FileSystem {
  /** A server, another program, or something unknown: may wait, and may have changed unseen. */
  foreign,
  /** overlayfs: whoever answers for its layers, and which these are cannot be told. */
  layered,
  /** The kernel alone, from memory or a disk. */
  local,
};

/**
 * The mount table of this process (proc_pid_mountinfo(5)). Asking it is the only way to learn the file system of a
 * descriptor without asking that file system: statx(2) asks some even with AT_STATX_DONT_SYNC, and fstatfs(2) asks the
 * server of a FUSE mount. A device number would not do, since fuseblk has that of its disk and btrfs has several.
 *
 * An open descriptor pins its mount and so the number of it, and the table is read anew after every change: an answer
 * never comes from an earlier mount of the same number. A mount that the table does not show is foreign.
 */
class MountTable {
 public:
  MountTable() = default;
  MountTable(const MountTable&) = delete;
  MountTable& operator=(const MountTable&) = delete;
  ~MountTable() = default;

  /** Of an open descriptor (O_PATH will do). Reads procfs only, so any thread may ask. */
  FileSystem file_system_of(int fd);

 private:
  /** False where it cannot be read. With the mutex held. */
  bool is_current();
  void read_all();
  void add(std::string_view line);

  std::mutex mutex_;
  UniqueFd mounts_;
  std::unordered_map<int, FileSystem> by_mount_;
};

}  // namespace workspace_authority
