#include "held_descriptor.h"

#include <sys/sysmacros.h>

#include "kernel_abi.h"
#include "syscalls.h"

namespace workspace_authority {

Result<Place> place_of(int fd) {
  // A kernel that knows the unique id answers it alone when both are asked for.
  const auto facts = syscalls::statx_fd(fd, STATX_INO | kernel::statx_mnt_id | kernel::statx_mnt_id_unique,
                                        syscalls::Freshness::remembered);
  if (!facts) return facts.failure();
  return Place{makedev(facts->stx_dev_major, facts->stx_dev_minor), facts->stx_ino, facts->stx_mnt_id};
}

Result<std::shared_ptr<HeldDirectory>> HeldDirectory::hold(UniqueFd fd, DescriptorCount count, RootPolicy policy,
                                                           FileSystem file_system) {
  const auto place = place_of(fd.get());
  if (!place) return place.failure();
  return std::make_shared<HeldDirectory>(std::move(fd), std::move(count), place.value(), std::move(policy),
                                         file_system);
}

Result<std::shared_ptr<HeldDirectory>> HeldDirectory::hold(UniqueFd fd, DescriptorCount count, RootPolicy policy) {
  const FileSystem file_system = policy.mounts->file_system_of(fd.get());
  return hold(std::move(fd), std::move(count), std::move(policy), file_system);
}

}  // namespace workspace_authority
