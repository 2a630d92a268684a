#pragma once

#include <utility>

#include "environment.h"
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

/** An open directory (O_RDONLY) and the policy for paths beneath it. */
class HeldDirectory : public HeldDescriptor {
 public:
  HeldDirectory(UniqueFd fd, DescriptorCount count, bool allow_mounts)
      : HeldDescriptor(std::move(fd), std::move(count)), allow_mounts_(allow_mounts) {}

  [[nodiscard]] bool allow_mounts() const { return allow_mounts_; }

 private:
  bool allow_mounts_;
};

}  // namespace workspace_authority
