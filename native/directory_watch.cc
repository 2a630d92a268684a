#include "directory_watch.h"

#include <sys/epoll.h>
#include <sys/inotify.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "syscalls.h"

namespace workspace_authority {
namespace {

// IN_UNMOUNT, IN_IGNORED and IN_Q_OVERFLOW come unasked.
constexpr std::uint32_t watched_changes =
    IN_CREATE | IN_ATTRIB | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR;

}  // namespace

Result<std::shared_ptr<DirectoryWatch>> DirectoryWatch::create(const DescriptorCount& count) {
  auto inotify = syscalls::inotify_init();
  if (!inotify) return inotify.failure();
  // The mount table of this process, wherever its threads are.
  auto mounts = syscalls::openat2(AT_FDCWD, "/proc/self/mountinfo", O_RDONLY, 0, 0);
  if (!mounts) return mounts.failure();
  auto poll = syscalls::epoll_create();
  if (!poll) return poll.failure();
  auto added = syscalls::epoll_add(poll->get(), inotify->get(), EPOLLIN);
  if (added) added = syscalls::epoll_add(poll->get(), mounts->get(), EPOLLPRI);
  if (!added) return added.failure();
  return std::shared_ptr<DirectoryWatch>(new DirectoryWatch(std::make_unique<HeldDescriptor>(inotify.take(), count),
                                                            std::make_unique<HeldDescriptor>(mounts.take(), count),
                                                            std::make_unique<HeldDescriptor>(poll.take(), count)));
}

Result<int> DirectoryWatch::add(int directory, WatchListener* listener) {
  // inotify takes names only; this one leads to the inode that is held, whatever its names have become.
  char path[32];
  static_cast<void>(std::snprintf(path, sizeof path, "/proc/self/fd/%d", directory));
  auto watch = syscalls::inotify_add_watch(inotify_->fd(), path, watched_changes);
  if (watch) watches_[watch.value()].push_back(listener);
  return watch;
}

void DirectoryWatch::remove(int watch, const WatchListener* listener) {
  const auto found = watches_.find(watch);
  if (found == watches_.end()) return;
  auto& listeners = found->second;
  const auto position = std::find(listeners.begin(), listeners.end(), listener);
  if (position != listeners.end()) listeners.erase(position);
  if (!listeners.empty()) return;
  watches_.erase(found);
  // Fails where the kernel dropped the watch first, which is as good.
  static_cast<void>(syscalls::inotify_rm_watch(inotify_->fd(), watch));
}

void DirectoryWatch::withdraw(WatchListener* listener) {
  listeners_.erase(std::remove(listeners_.begin(), listeners_.end(), listener), listeners_.end());
}

void DirectoryWatch::drain() {
  struct epoll_event ready[2];
  const auto count = syscalls::epoll_poll(poll_->fd(), ready, 2);
  if (!count) {
    lose_everything();
    return;
  }
  for (std::size_t index = 0; index < count.value(); ++index) {
    if (ready[index].data.fd == inotify_->fd()) {
      drain_inotify();
    } else {
      // Polling has taken note of the table's new state (proc_pid_mountinfo(5)), so this comes once a change.
      lose_everything();
    }
  }
}

void DirectoryWatch::drain_inotify() {
  alignas(struct inotify_event) char buffer[16384];
  while (true) {
    const auto length = syscalls::read(inotify_->fd(), buffer, sizeof buffer);
    if (!length) {
      if (!length.failed_with(EAGAIN)) lose_everything();
      return;
    }
    for (std::size_t offset = 0; offset < length.value();) {
      struct inotify_event event;
      std::memcpy(&event, buffer + offset, sizeof event);
      // The name is padded with NULs; `len` counts them.
      const char* name = buffer + offset + sizeof event;
      deliver(event.wd, event.mask, std::string_view(name, ::strnlen(name, event.len)));
      offset += sizeof event + event.len;
    }
  }
}

void DirectoryWatch::deliver(int watch, std::uint32_t mask, std::string_view name) {
  if ((mask & IN_Q_OVERFLOW) != 0) {
    lose_everything();
    return;
  }
  const auto found = watches_.find(watch);
  if (found == watches_.end()) return;
  // A copy, since listeners remove watches while they are told.
  const std::vector<WatchListener*> listeners = found->second;
  for (WatchListener* listener : listeners) {
    if ((mask & (IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT | IN_IGNORED)) != 0) {
      listener->directory_gone(watch);
    } else {
      listener->entry_changed(watch, name, (mask & (IN_CREATE | IN_MOVED_TO)) != 0);
    }
  }
}

void DirectoryWatch::lose_everything() {
  for (WatchListener* listener : listeners_) listener->everything_lost();
}

}  // namespace workspace_authority
