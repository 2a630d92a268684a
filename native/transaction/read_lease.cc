#include "transaction/read_lease.h"

#include <fcntl.h>

#include <cerrno>

#include "syscalls.h"

namespace workspace_authority {

Status ReadLease::take(int fd) {
  // The kernel announces a waiting writer by SIGIO, whose default is to end the process. Writer threads block all
  // signals, so one that goes to this thread only is never delivered. Releasing a lease forgets this, hence each time.
  const Status owned = syscalls::own_signals(fd);
  const Status taken = owned ? syscalls::set_lease(fd, F_RDLCK) : owned;
  if (taken) {
    fd_ = fd;
    return Done{};
  }
  switch (taken.failure().error) {
    case EAGAIN: return Failure{EAGAIN, taken.failure().syscall, Refusal::writer_open};
    case EACCES:
    case EPERM:
    case EINVAL:
    case ENOSYS:
    case ENOLCK:
    case EOPNOTSUPP: return Done{};
    default: return taken.failure();
  }
}

Result<bool> ReadLease::disturbed() const {
  if (!held()) return false;
  const auto type = syscalls::get_lease(fd_);
  if (!type) return type.failure();
  return type.value() != F_RDLCK;
}

void ReadLease::release() {
  if (!held()) return;
  // Cannot be refused to the holder, and closing the descriptor would end the lease too.
  static_cast<void>(syscalls::set_lease(fd_, F_UNLCK));
  fd_ = -1;
}

}  // namespace workspace_authority
