#include "syscalls.h"

#include <poll.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/xattr.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "call_hooks.h"
#include "kernel_abi.h"

namespace workspace_authority {

#ifdef WITH_FAULTS
CallHooks call_hooks;
#endif

namespace syscalls {
namespace {

/** Makes one call, again after EINTR; returns its value, or -1 with errno set. */
template <typename Call>
long invoke([[maybe_unused]] const char* name, Call call) {
#ifdef WITH_FAULTS
  if (call_hooks.before != nullptr) {
    if (const int injected = call_hooks.before(name); injected != 0) {
      errno = injected;
      return -1;
    }
  }
#endif
  long result = 0;
  do {
    result = static_cast<long>(call());
  } while (result == -1 && errno == EINTR);
#ifdef WITH_FAULTS
  if (result != -1 && call_hooks.after != nullptr) {
    if (const int injected = call_hooks.after(name); injected != 0) {
      errno = injected;
      return -1;
    }
  }
#endif
  return result;
}

Failure failure_of(const char* name) { return Failure{errno, name, Refusal::none}; }

template <typename Call>
Status status_of(const char* name, Call call) {
  if (invoke(name, call) == -1) return failure_of(name);
  return Done{};
}

template <typename Call>
Result<std::size_t> count_of(const char* name, Call call) {
  const long result = invoke(name, call);
  if (result == -1) return failure_of(name);
  return static_cast<std::size_t>(result);
}

template <typename Call>
Result<UniqueFd> descriptor_of(const char* name, Call call) {
  // Owned from inside the call, so that a fault injected after it does not leak the descriptor.
  UniqueFd fd;
  const long result = invoke(name, [&] {
    fd.reset(static_cast<int>(call()));
    return static_cast<long>(fd.get());
  });
  if (result == -1) return failure_of(name);
  return fd;
}

}  // namespace

Result<UniqueFd> openat2(int directory, const char* path, std::uint64_t flags, std::uint64_t mode,
                         std::uint64_t resolve) {
  kernel::OpenHow how{flags | O_CLOEXEC, mode, resolve};
  return descriptor_of("openat2", [&] { return ::syscall(kernel::sys_openat2, directory, path, &how, sizeof how); });
}

namespace {
Result<struct statx> statx_call(int directory, const char* name, int flags, unsigned mask) {
  struct statx facts;
  const long result =
      invoke("statx", [&] { return ::syscall(SYS_statx, directory, name, flags | AT_NO_AUTOMOUNT, mask, &facts); });
  if (result == -1) return failure_of("statx");
  return facts;
}
}  // namespace

Result<struct statx> statx_fd(int fd, unsigned mask, Freshness freshness) {
  return statx_call(fd, "", AT_EMPTY_PATH | (freshness == Freshness::remembered ? AT_STATX_DONT_SYNC : 0), mask);
}

Result<struct statx> statx_at(int directory, const char* name, unsigned mask) {
  return statx_call(directory, name, AT_SYMLINK_NOFOLLOW, mask);
}

Result<struct statfs> fstatfs(int fd) {
  struct statfs facts;
  if (invoke("fstatfs", [&] { return ::fstatfs(fd, &facts); }) == -1) return failure_of("fstatfs");
  return facts;
}

Result<FileHandleBytes> name_to_handle_at(int fd, int flags) {
  // struct file_handle ends in a flexible array; a plain buffer keeps gcc's bounds check out of it.
  constexpr std::size_t header = sizeof(unsigned) + sizeof(int);
  alignas(struct file_handle) unsigned char buffer[header + sizeof(FileHandleBytes::bytes)] = {};
  const unsigned capacity = sizeof(FileHandleBytes::bytes);
  std::memcpy(buffer, &capacity, sizeof capacity);
  int mount_id = 0;
  const long result = invoke("name_to_handle_at", [&] {
    return ::syscall(SYS_name_to_handle_at, fd, "", buffer, &mount_id, flags | AT_EMPTY_PATH);
  });
  if (result == -1) return failure_of("name_to_handle_at");
  FileHandleBytes handle;
  std::memcpy(&handle.size, buffer, sizeof handle.size);
  std::memcpy(&handle.type, buffer + sizeof(unsigned), sizeof handle.type);
  std::memcpy(handle.bytes, buffer + header, handle.size);
  return handle;
}

Result<std::size_t> pread(int fd, void* buffer, std::size_t length, std::uint64_t position) {
  return count_of("pread64", [&] { return ::pread(fd, buffer, length, static_cast<off_t>(position)); });
}

Result<std::size_t> pread_nowait(int fd, void* buffer, std::size_t length, std::uint64_t position) {
  struct iovec part{buffer, length};
  return count_of("preadv2", [&] {
    // The kernel takes the offset as two words; on 64-bit machines the high one is ignored.
    return ::syscall(SYS_preadv2, fd, &part, 1UL, position, 0UL, kernel::rwf_nowait);
  });
}

Result<std::size_t> read(int fd, void* buffer, std::size_t length) {
  return count_of("read", [&] { return ::read(fd, buffer, length); });
}

void wait_for_writers(int fd) {
  static_cast<void>(invoke("lseek", [&] { return ::lseek(fd, 0, SEEK_HOLE); }));
}

Result<std::size_t> getdents64(int fd, void* buffer, std::size_t length) {
  return count_of("getdents64", [&] { return ::syscall(SYS_getdents64, fd, buffer, length); });
}

Result<std::string> readlinkat(int directory, const char* name) {
  // A target is at most PATH_MAX - 1 bytes (symlink(2)).
  char buffer[4096];
  const auto length = count_of("readlinkat", [&] { return ::readlinkat(directory, name, buffer, sizeof buffer); });
  if (!length) return length.failure();
  return std::string(buffer, length.value());
}

Result<std::size_t> pwrite(int fd, const void* buffer, std::size_t length, std::uint64_t position) {
  return count_of("pwrite64", [&] { return ::pwrite(fd, buffer, length, static_cast<off_t>(position)); });
}

Status renameat2(int from_directory, const char* from, int to_directory, const char* to, unsigned flags) {
  return status_of("renameat2",
                   [&] { return ::syscall(SYS_renameat2, from_directory, from, to_directory, to, flags); });
}

Status linkat(int from_directory, const char* from, int to_directory, const char* to, int flags) {
  return status_of("linkat", [&] { return ::linkat(from_directory, from, to_directory, to, flags); });
}

Status unlinkat(int directory, const char* name, int flags) {
  return status_of("unlinkat", [&] { return ::unlinkat(directory, name, flags); });
}

Status mkdirat(int directory, const char* name, mode_t mode) {
  return status_of("mkdirat", [&] { return ::mkdirat(directory, name, mode); });
}

Status fchmod(int fd, mode_t mode) {
  return status_of("fchmod", [&] { return ::fchmod(fd, mode); });
}

Status fchown(int fd, uid_t owner, gid_t group) {
  return status_of("fchown", [&] { return ::fchown(fd, owner, group); });
}

Status fdatasync(int fd) {
  return status_of("fdatasync", [&] { return ::fdatasync(fd); });
}

Status fsync(int fd) {
  return status_of("fsync", [&] { return ::fsync(fd); });
}

Status may_access(int fd, int mode) {
  const Status answer = status_of(
      "faccessat2", [&] { return ::syscall(kernel::sys_faccessat2, fd, "", mode, AT_EACCESS | AT_EMPTY_PATH); });
  // Linux before 5.8 does not know the call, and old container profiles answer EPERM for what they do not know.
  if (!answer.failed_with(ENOSYS) && !answer.failed_with(EPERM)) return answer;
  char path[32];
  static_cast<void>(std::snprintf(path, sizeof path, "/proc/self/fd/%d", fd));
  return status_of("faccessat", [&] { return ::syscall(SYS_faccessat, AT_FDCWD, path, mode); });
}

Result<std::string> flistxattr(int fd) {
  // XATTR_LIST_MAX of linux/limits.h.
  constexpr std::size_t longest_list = 65536;
  const auto length = count_of("flistxattr", [&] { return ::flistxattr(fd, nullptr, 0); });
  if (length.failed_with(EOPNOTSUPP)) return std::string();
  if (!length) return length.failure();
  if (length.value() == 0) return std::string();
  std::string names(longest_list, '\0');
  const auto filled = count_of("flistxattr", [&] { return ::flistxattr(fd, names.data(), names.size()); });
  if (!filled) return filled.failure();
  names.resize(filled.value());
  return names;
}

Result<std::string> fgetxattr(int fd, const char* name) {
  // XATTR_SIZE_MAX of linux/limits.h.
  std::string value(65536, '\0');
  const auto length = count_of("fgetxattr", [&] { return ::fgetxattr(fd, name, value.data(), value.size()); });
  if (!length) return length.failure();
  value.resize(length.value());
  return value;
}

Status fsetxattr(int fd, const char* name, std::string_view value) {
  return status_of("fsetxattr", [&] { return ::fsetxattr(fd, name, value.data(), value.size(), 0); });
}

Status fremovexattr(int fd, const char* name) {
  return status_of("fremovexattr", [&] { return ::fremovexattr(fd, name); });
}

Status own_signals(int fd) {
  struct f_owner_ex owner{F_OWNER_TID, static_cast<pid_t>(::syscall(SYS_gettid))};
  return status_of("fcntl", [&] { return ::fcntl(fd, F_SETOWN_EX, &owner); });
}

Status set_lease(int fd, int type) {
  return status_of("fcntl", [&] { return ::fcntl(fd, F_SETLEASE, type); });
}

Result<int> get_lease(int fd) {
  const long type = invoke("fcntl", [&] { return ::fcntl(fd, F_GETLEASE); });
  if (type == -1) return failure_of("fcntl");
  return static_cast<int>(type);
}

Status lock_byte(int fd, int type, std::uint64_t position) {
  struct flock lock = {};
  lock.l_type = static_cast<short>(type);
  lock.l_whence = SEEK_SET;
  lock.l_start = static_cast<off_t>(position);
  lock.l_len = 1;
  return status_of("fcntl", [&] { return ::fcntl(fd, F_OFD_SETLK, &lock); });
}

Status getrandom(void* buffer, std::size_t length) {
  // Up to 256 bytes come whole or not at all.
  return status_of("getrandom", [&] { return ::getrandom(buffer, length, 0); });
}

void populate(void* memory, std::size_t length) {
  constexpr std::size_t page = 4096;
  const std::size_t before = (page - reinterpret_cast<std::uintptr_t>(memory) % page) % page;
  if (length < before + page) return;
  const std::size_t whole = (length - before) / page * page;
  // Memory that the heap gives out again has its pages; looking through all of them costs more than asking for the
  // last.
  unsigned char present = 0;
  char* const last = static_cast<char*>(memory) + before + whole - page;
  if (::mincore(last, page, &present) == 0 && (present & 1) != 0) return;
  static_cast<void>(::madvise(static_cast<char*>(memory) + before, whole, kernel::madv_populate_write));
}

Result<UniqueFd> inotify_init() {
  return descriptor_of("inotify_init1", [] { return ::inotify_init1(IN_CLOEXEC | IN_NONBLOCK); });
}

Result<int> inotify_add_watch(int inotify, const char* path, std::uint32_t mask) {
  const long watch = invoke("inotify_add_watch", [&] { return ::inotify_add_watch(inotify, path, mask); });
  if (watch == -1) return failure_of("inotify_add_watch");
  return static_cast<int>(watch);
}

Status inotify_rm_watch(int inotify, int watch) {
  return status_of("inotify_rm_watch", [&] { return ::inotify_rm_watch(inotify, watch); });
}

Result<UniqueFd> epoll_create() {
  return descriptor_of("epoll_create1", [] { return ::epoll_create1(EPOLL_CLOEXEC); });
}

Status epoll_add(int epoll, int fd, std::uint32_t events) {
  struct epoll_event event = {};
  event.events = events;
  event.data.fd = fd;
  return status_of("epoll_ctl", [&] { return ::epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event); });
}

Result<bool> poll_exceptional(int fd) {
  struct pollfd asked = {fd, POLLPRI, 0};
  if (invoke("poll", [&] { return ::poll(&asked, 1, 0); }) == -1) return failure_of("poll");
  return (asked.revents & POLLPRI) != 0;
}

Result<std::size_t> epoll_poll(int epoll, struct epoll_event* ready, int capacity) {
  return count_of("epoll_wait", [&] { return ::epoll_wait(epoll, ready, capacity, 0); });
}

}  // namespace syscalls
}  // namespace workspace_authority
