#include "mount_table.h"

#include <charconv>
#include <cstdio>
#include <optional>
#include <string>

#include "syscalls.h"

namespace workspace_authority {
namespace {

// A table this long takes milliseconds to make. Of a longer one, the rest is foreign.
constexpr std::size_t most_bytes = 1 << 20;

FileSystem named(std::string_view type) {
  for (const std::string_view local : {"ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "zfs", "tmpfs"}) {
    if (type == local) return FileSystem::local;
  }
  return type == "overlay" ? FileSystem::layered : FileSystem::foreign;
}

std::optional<int> number_at_start(std::string_view text) {
  int number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  return read.ec == std::errc() ? std::optional(number) : std::nullopt;
}

/** The mount of a descriptor, as /proc/pid/fdinfo/ shows it (proc_pid_fdinfo(5)). */
std::optional<int> mount_of(int fd) {
  constexpr std::string_view label = "mnt_id:\t";
  char path[40];
  static_cast<void>(std::snprintf(path, sizeof path, "/proc/self/fdinfo/%d", fd));
  const auto info = syscalls::openat2(AT_FDCWD, path, O_RDONLY, 0, 0);
  if (!info) return std::nullopt;
  char buffer[256];
  const auto length = syscalls::read(info->get(), buffer, sizeof buffer);
  if (!length) return std::nullopt;
  const std::string_view text(buffer, length.value());
  const std::size_t start = text.find(label);
  if (start == std::string_view::npos) return std::nullopt;
  return number_at_start(text.substr(start + label.size()));
}

}  // namespace

FileSystem MountTable::file_system_of(int fd) {
  const auto mount = mount_of(fd);
  if (!mount.has_value()) return FileSystem::foreign;
  const std::lock_guard lock(mutex_);
  if (!is_current()) return FileSystem::foreign;
  const auto found = by_mount_.find(*mount);
  return found == by_mount_.end() ? FileSystem::foreign : found->second;
}

bool MountTable::is_current() {
  if (!mounts_.valid()) {
    auto mounts = syscalls::openat2(AT_FDCWD, "/proc/self/mountinfo", O_RDONLY, 0, 0);
    if (!mounts) return false;
    mounts_ = mounts.take();
    read_all();
    return true;
  }
  // Asking takes note of the table's new state, so a change while it is being read is reported the next time.
  const auto changed = syscalls::poll_exceptional(mounts_.get());
  if (!changed) return false;
  if (changed.value()) read_all();
  return true;
}

void MountTable::read_all() {
  by_mount_.clear();
  std::string text;
  char buffer[16384];
  while (text.size() < most_bytes) {
    const auto length = syscalls::pread(mounts_.get(), buffer, sizeof buffer, text.size());
    if (!length || length.value() == 0) break;
    text.append(buffer, length.value());
  }
  // What follows the last newline is cut off.
  std::size_t start = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', start)) {
    add(std::string_view(text).substr(start, end - start));
    start = end + 1;
  }
}

void MountTable::add(std::string_view line) {
  // `27 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw`: the paths escape their spaces, so the first lone dash
  // ends the optional fields.
  constexpr std::string_view separator = " - ";
  const auto mount = number_at_start(line);
  const std::size_t dash = line.find(separator);
  if (!mount.has_value() || dash == std::string_view::npos) return;
  const std::string_view rest = line.substr(dash + separator.size());
  by_mount_[*mount] = named(rest.substr(0, rest.find(' ')));
}

}  // namespace workspace_authority
