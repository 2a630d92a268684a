#pragma once

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "result.h"
#include "unique_fd.h"

/**
 * One function per system call: it makes the call once (again after EINTR), and returns its value or its errno with the
 * name of the call. Nothing here knows JavaScript, retries on EAGAIN or chooses flags, except O_CLOEXEC, which is
 * always set. Calls younger than glibc 2.28 go through syscall(2), so that a prebuilt addon loads on old distributions.
 */
namespace workspace_authority::syscalls {

Result<UniqueFd> openat2(int directory, const char* path, std::uint64_t flags, std::uint64_t mode,
                         std::uint64_t resolve);

enum class Freshness {
  /** A network file system asks its server as often as it does for stat(2). */
  current,
  /** AT_STATX_DONT_SYNC: what memory knows, for the JavaScript thread. Local file systems know no difference. */
  remembered,
};

/** statx(2) of an open descriptor (AT_EMPTY_PATH). Never triggers an automount. */
Result<struct statx> statx_fd(int fd, unsigned mask, Freshness freshness = Freshness::current);
/** statx(2) of a name in a directory; a symbolic link itself, never its target. */
Result<struct statx> statx_at(int directory, const char* name, unsigned mask);
Result<struct statfs> fstatfs(int fd);

struct FileHandleBytes {
  int type = 0;
  unsigned size = 0;
  unsigned char bytes[128] = {};  // MAX_HANDLE_SZ
};
/** name_to_handle_at(2) of an open descriptor; `flags` may hold AT_HANDLE_FID. */
Result<FileHandleBytes> name_to_handle_at(int fd, int flags);

Result<std::size_t> pread(int fd, void* buffer, std::size_t length, std::uint64_t position);
/** preadv2(2) with RWF_NOWAIT: EAGAIN instead of waiting for the disk. */
Result<std::size_t> pread_nowait(int fd, void* buffer, std::size_t length, std::uint64_t position);
Result<std::size_t> read(int fd, void* buffer, std::size_t length);
/**
 * lseek(2) with SEEK_HOLE, for the sake of its lock: local file systems hold a file's inode lock while they write to it
 * and take it to look for holes, so this returns after every write(2) that had begun before. The offset it moves is not
 * used.
 */
void wait_for_writers(int fd);
Result<std::size_t> getdents64(int fd, void* buffer, std::size_t length);
/** Whole target of the link. An empty `name` reads the link that `directory` (O_PATH | O_NOFOLLOW) is. */
Result<std::string> readlinkat(int directory, const char* name);

Result<std::size_t> pwrite(int fd, const void* buffer, std::size_t length, std::uint64_t position);
Status renameat2(int from_directory, const char* from, int to_directory, const char* to, unsigned flags);
Status linkat(int from_directory, const char* from, int to_directory, const char* to, int flags);
Status unlinkat(int directory, const char* name, int flags);
Status mkdirat(int directory, const char* name, mode_t mode);
Status fchmod(int fd, mode_t mode);
Status fchown(int fd, uid_t owner, gid_t group);
Status fdatasync(int fd);
Status fsync(int fd);

/** faccessat2(2) with the effective ids, of an open descriptor. */
Status may_access(int fd, int mode);

/** Names of the extended attributes, each followed by a NUL; empty where the file system has none. */
Result<std::string> flistxattr(int fd);
Result<std::string> fgetxattr(int fd, const char* name);
Status fsetxattr(int fd, const char* name, std::string_view value);
Status fremovexattr(int fd, const char* name);

/** fcntl(2), F_SETOWN_EX: signals about the descriptor go to the calling thread only. */
Status own_signals(int fd);
/** fcntl(2), F_SETLEASE; `type` is F_RDLCK or F_UNLCK. */
Status set_lease(int fd, int type);
/** fcntl(2), F_GETLEASE: F_UNLCK also while somebody waits for the lease to end. */
Result<int> get_lease(int fd);
/** fcntl(2), F_OFD_SETLK of one byte; `type` is F_WRLCK or F_UNLCK. */
Status lock_byte(int fd, int type, std::uint64_t position);

/** getrandom(2); fills the whole buffer, which must be at most 256 bytes long. */
Status getrandom(void* buffer, std::size_t length);

/**
 * madvise(2) with MADV_POPULATE_WRITE for the pages that lie wholly within: one call instead of a fault for each page.
 * A hint: where the kernel does not know it, the pages fault as ever.
 */
void populate(void* memory, std::size_t length);

Result<UniqueFd> inotify_init();
Result<int> inotify_add_watch(int inotify, const char* path, std::uint32_t mask);
Status inotify_rm_watch(int inotify, int watch);
Result<UniqueFd> epoll_create();
/** Adds `fd` with its own number as the event's data. */
Status epoll_add(int epoll, int fd, std::uint32_t events);
/** poll(2) that returns at once: whether POLLPRI is set. */
Result<bool> poll_exceptional(int fd);
/** epoll_wait(2) that returns at once with the number of descriptors that are ready. */
Result<std::size_t> epoll_poll(int epoll, struct epoll_event* ready, int capacity);

}  // namespace workspace_authority::syscalls
