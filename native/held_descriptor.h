#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "environment.h"
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

/** The place of an open descriptor. */
Result<Place> place_of(int fd);

/** An open directory (O_RDONLY), its place, and the policy for paths beneath it. */
class HeldDirectory : public HeldDescriptor {
 public:
  /** Takes a directory opened O_RDONLY. */
  static Result<std::shared_ptr<HeldDirectory>> hold(UniqueFd fd, DescriptorCount count, bool allow_mounts);

  HeldDirectory(UniqueFd fd, DescriptorCount count, const Place& place, bool allow_mounts)
      : HeldDescriptor(std::move(fd), std::move(count)), place_(place), allow_mounts_(allow_mounts) {}

  [[nodiscard]] const Place& place() const { return place_; }
  /** Whether paths may cross mount points below this directory. */
  [[nodiscard]] bool allow_mounts() const { return allow_mounts_; }

 private:
  Place place_;
  bool allow_mounts_;
};

}  // namespace workspace_authority
