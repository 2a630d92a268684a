#include "identity.h"

#include <sys/sysmacros.h>

#include <cerrno>
#include <cstring>

#include "kernel_abi.h"

namespace workspace_authority {
namespace {

/**
 * A file handle holds the inode's generation, which tells a reused inode number from the one before. File systems that
 * cannot open by handle (overlayfs) still give a FID since Linux 6.5.
 */
Result<std::optional<syscalls::FileHandleBytes>> read_handle(int fd) {
  for (const int flags : {0, kernel::at_handle_fid}) {
    const auto handle = syscalls::name_to_handle_at(fd, flags);
    if (handle) return std::optional(handle.value());
    // EOPNOTSUPP: no handles here. EINVAL: the flag is unknown. EPERM, ENOSYS: filtered by a container. EOVERFLOW:
    // longer than MAX_HANDLE_SZ, or a network file system that wants to be asked again.
    const int error = handle.failure().error;
    if (error != EOPNOTSUPP && error != EINVAL && error != EPERM && error != ENOSYS && error != EOVERFLOW) {
      return handle.failure();
    }
  }
  return std::optional<syscalls::FileHandleBytes>();
}

}  // namespace

std::int64_t nanoseconds(const struct statx_timestamp& time) {
  return time.tv_sec * 1'000'000'000LL + static_cast<std::int64_t>(time.tv_nsec);
}

std::uint64_t device_of(const struct statx& facts) { return makedev(facts.stx_dev_major, facts.stx_dev_minor); }

Result<Identity> read_identity(int fd) {
  // A kernel that knows the unique id answers it alone when both are asked for.
  const auto facts =
      syscalls::statx_fd(fd, STATX_BASIC_STATS | STATX_BTIME | kernel::statx_mnt_id | kernel::statx_mnt_id_unique);
  if (!facts) return facts.failure();
  const auto file_system = syscalls::fstatfs(fd);
  if (!file_system) return file_system.failure();
  const auto handle = read_handle(fd);
  if (!handle) return handle.failure();

  Identity identity;
  identity.device = device_of(facts.value());
  identity.inode = facts->stx_ino;
  identity.mount_id = facts->stx_mnt_id;
  identity.mount_id_unique = (facts->stx_mask & kernel::statx_mnt_id_unique) != 0;
  static_assert(sizeof file_system->f_fsid == sizeof identity.file_system_id);
  std::memcpy(&identity.file_system_id, &file_system->f_fsid, sizeof identity.file_system_id);
  identity.handle = handle.value();
  if ((facts->stx_mask & STATX_BTIME) != 0) identity.birth_time_ns = nanoseconds(facts->stx_btime);
  identity.mode = facts->stx_mode;
  identity.uid = facts->stx_uid;
  identity.gid = facts->stx_gid;
  identity.link_count = facts->stx_nlink;
  return identity;
}

}  // namespace workspace_authority
