#include "transaction/base_version.h"

#include <fcntl.h>

#include <cerrno>
#include <utility>

#include "kernel_abi.h"
#include "syscalls.h"
#include "transaction/content.h"

namespace workspace_authority {
namespace {

bool same_moment(const struct statx_timestamp& left, const struct statx_timestamp& right) {
  return left.tv_sec == right.tv_sec && left.tv_nsec == right.tv_nsec;
}

}  // namespace

Result<std::optional<BaseVersion>> BaseVersion::open(const Slot& slot, const BaseRequest& request) {
  // Looked at before it is opened: opening a device may do something, and a link or a FIFO deserves its own answer.
  const auto named = syscalls::statx_at(slot.directory(), slot.name(), transaction_facts);
  if (named.failed_with(ENOENT)) return std::optional<BaseVersion>();
  if (!named) return named.failure();
  if (S_ISLNK(named->stx_mode)) return Failure{ELOOP, "statx"};
  if (!S_ISREG(named->stx_mode)) return Failure::refused(Refusal::not_regular);
  if (Inode::of(named.value()) != request.inode) return std::optional<BaseVersion>();

  auto fd = syscalls::openat2(
      slot.directory(), slot.name(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW, 0,
      kernel::resolve_beneath | kernel::resolve_no_symlinks | kernel::resolve_no_magiclinks | kernel::resolve_no_xdev);
  if (fd.failed_with(ENOENT)) return std::optional<BaseVersion>();
  if (!fd) return fd.failure();
  const auto facts = syscalls::statx_fd(fd->get(), transaction_facts);
  if (!facts) return facts.failure();
  if (!S_ISREG(facts->stx_mode)) return Failure::refused(Refusal::not_regular);
  if (Inode::of(facts.value()) != request.inode || facts->stx_size != request.bytes.size()) {
    return std::optional<BaseVersion>();
  }
  const auto same = holds_exactly(fd->get(), request.bytes);
  if (!same) return same.failure();
  if (!same.value()) return std::optional<BaseVersion>();
  return std::optional<BaseVersion>(BaseVersion(fd.take(), facts.value(), request.bytes));
}

Result<bool> BaseVersion::still_named(const Slot& slot) const {
  const auto now = syscalls::statx_at(slot.directory(), slot.name(), transaction_facts);
  if (now.failed_with(ENOENT)) return false;
  if (!now) return now.failure();
  if (Inode::of(now.value()) != Inode::of(facts_)) return false;
  const bool untouched = same_moment(now->stx_ctime, facts_.stx_ctime) && now->stx_size == facts_.stx_size;
  if (untouched) return true;
  return holds_exactly(fd_.get(), *bytes_);
}

Result<std::optional<Inode>> BaseVersion::found_at(const Slot& slot, const std::string& name) const {
  const auto moved = syscalls::statx_at(slot.directory(), name.c_str(), transaction_facts);
  if (!moved) return moved.failure();
  // Compared with the open file as it is now: on overlayfs the move itself copied a lower file up.
  const auto held = syscalls::statx_fd(fd_.get(), transaction_facts);
  if (!held) return held.failure();
  const Inode inode = Inode::of(moved.value());
  if (inode != Inode::of(held.value())) return std::optional<Inode>();
  const auto same = holds_exactly(fd_.get(), *bytes_);
  if (!same) return same.failure();
  return same.value() ? std::optional<Inode>(inode) : std::optional<Inode>();
}

}  // namespace workspace_authority
