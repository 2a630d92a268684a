#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "environment.h"
#include "mount_table.h"
#include "result.h"
#include "unique_fd.h"

namespace workspace_authority {

/**
 * A descriptor shared by a handle and the calls that use it (`std::shared_ptr`): closing the handle drops its share,
 * and the descriptor closes when the last running call has dropped its own. So no call ever sees a reused descriptor
 * number.
 */
class HeldDescriptor {
 public:
  HeldDescriptor(UniqueFd fd, DescriptorCount count) : fd_(std::move(fd)), count_(std::move(count)) { ++*count_; }
  HeldDescriptor(const HeldDescriptor&) = delete;
  HeldDescriptor& operator=(const HeldDescriptor&) = delete;
  ~HeldDescriptor() { --*count_; }

  [[nodiscard]] int fd() const { return fd_.get(); }
  [[nodiscard]] const DescriptorCount& count() const { return count_; }

 private:
  UniqueFd fd_;
  DescriptorCount count_;
};

/** Where an inode is; enough to tell two objects apart while a descriptor or a watch keeps one of them alive. */
struct Place {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t mount = 0;

  bool operator==(const Place& other) const {
    return device == other.device && inode == other.inode && mount == other.mount;
  }
  bool operator!=(const Place& other) const { return !(*this == other); }
};

/** The place of an open descriptor. Asks no server where that can be avoided: a place never changes. */
Result<Place> place_of(int fd);

/** Policy for paths beneath a directory, and the mount table that tells where they lead. */
struct RootPolicy {
  /** Whether paths may cross mount points below the directory. */
  bool allow_mounts = false;
  std::shared_ptr<MountTable> mounts;
};

/** An open directory (O_RDONLY), its place, and the policy for paths beneath it. */
class HeldDirectory : public HeldDescriptor {
 public:
  /** Takes a directory opened O_RDONLY, on the given file system. */
  static Result<std::shared_ptr<HeldDirectory>> hold(UniqueFd fd, DescriptorCount count, RootPolicy policy,
                                                     FileSystem file_system);
  /** The same where the file system has yet to be asked for. */
  static Result<std::shared_ptr<HeldDirectory>> hold(UniqueFd fd, DescriptorCount count, RootPolicy policy);

  HeldDirectory(UniqueFd fd, DescriptorCount count, const Place& place, RootPolicy policy, FileSystem file_system)
      : HeldDescriptor(std::move(fd), std::move(count)),
        place_(place),
        policy_(std::move(policy)),
        file_system_(file_system) {}

  [[nodiscard]] const Place& place() const { return place_; }
  [[nodiscard]] const RootPolicy& policy() const { return policy_; }
  [[nodiscard]] bool allow_mounts() const { return policy_.allow_mounts; }
  /** Of the directory itself. */
  [[nodiscard]] FileSystem file_system() const { return file_system_; }
  /** Of a descriptor that was opened beneath this directory; free of cost unless that may be on another mount. */
  [[nodiscard]] FileSystem file_system_of(int fd) const {
    return allow_mounts() ? policy_.mounts->file_system_of(fd) : file_system_;
  }

 private:
  Place place_;
  RootPolicy policy_;
  FileSystem file_system_;
};

}  // namespace workspace_authority
