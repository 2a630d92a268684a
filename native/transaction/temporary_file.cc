#include "transaction/temporary_file.h"

#include <fcntl.h>

#include <cerrno>
#include <cstdio>
#include <string_view>
#include <utility>

#include "kernel_abi.h"
#include "syscalls.h"
#include "transaction/names.h"

namespace workspace_authority {
namespace {

constexpr std::uint64_t beneath = kernel::resolve_beneath | kernel::resolve_no_symlinks | kernel::resolve_no_magiclinks;

/** Answers that say "not in this way" rather than "not now", gathered under one errno. */
Failure as_unsupported(const Failure& failure) {
  switch (failure.error) {
    case EISDIR:
    case EINVAL:
    case ENOENT:
    case EPERM:
    case EACCES:
    case EXDEV:
    case ENOSYS: return Failure{EOPNOTSUPP, failure.syscall};
    default: return failure;
  }
}

/** Names a file that was left all the same. */
Outcome creation_failed(const Slot& slot, const std::string& name, const Failure& failure) {
  Outcome outcome = Outcome::failed(failure);
  if (failure.error == EEXIST) return outcome;
  // The call may have failed after the name was made. Its inode was never ours to see, so it is not ours to delete.
  if (syscalls::statx_at(slot.directory(), name.c_str(), transaction_facts)) outcome.kept.push_back(name);
  return outcome;
}

/** Whether nothing but the way in which the new file was made stood against the transaction. */
bool needs_named_file(const Outcome& outcome) {
  const Failure& failure = outcome.failure;
  if (outcome.ending != Ending::failed || failure.error != EOPNOTSUPP || failure.refusal != Refusal::none) return false;
  if (failure.syscall == nullptr || !outcome.kept.empty()) return false;
  const std::string_view syscall = failure.syscall;
  return syscall == "openat2" || syscall == "linkat";
}

}  // namespace

Result<TemporaryFile> TemporaryFile::of(UniqueFd fd, std::string name, bool named) {
  const auto facts = syscalls::statx_fd(fd.get(), transaction_facts);
  if (!facts) return facts.failure();
  return TemporaryFile(std::move(fd), std::move(name), facts.value(), named);
}

Result<TemporaryFile> TemporaryFile::create_unnamed(const Slot& slot, std::string name, mode_t mode) {
  auto fd = syscalls::openat2(slot.directory(), ".", O_WRONLY | O_TMPFILE, mode, beneath);
  if (!fd) return as_unsupported(fd.failure());
  return of(fd.take(), std::move(name), false);
}

Result<TemporaryFile> TemporaryFile::create_named(const Slot& slot, std::string name, mode_t mode) {
  auto fd = syscalls::openat2(slot.directory(), name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode, beneath);
  if (!fd) return fd.failure();
  return of(fd.take(), std::move(name), true);
}

Status TemporaryFile::publish(const Slot& slot) const { return named_ ? Status(Done{}) : link_as(slot, name_.c_str()); }

Status TemporaryFile::take_name(const Slot& slot) const {
  if (!named_) return link_as(slot, slot.name());
  return move_name(slot.directory(), name_.c_str(), slot.directory(), slot.name(), kernel::rename_noreplace, inode());
}

Status TemporaryFile::link_as(const Slot& slot, const char* name) const {
  // By descriptor needs CAP_DAC_READ_SEARCH before Linux 6.10; through /proc does not, but needs /proc.
  const Status linked = syscalls::linkat(fd(), "", slot.directory(), name, AT_EMPTY_PATH);
  if (linked || has_name(slot, name)) return Done{};
  if (!linked.failed_with(ENOENT) && !linked.failed_with(EPERM)) return linked;
  char path[32];
  static_cast<void>(std::snprintf(path, sizeof path, "/proc/self/fd/%d", fd()));
  const Status through_proc = syscalls::linkat(AT_FDCWD, path, slot.directory(), name, AT_SYMLINK_FOLLOW);
  if (through_proc || has_name(slot, name)) return Done{};
  return through_proc.failed_with(EEXIST) ? through_proc : Status(as_unsupported(through_proc.failure()));
}

bool TemporaryFile::has_name(const Slot& slot, const char* name) const {
  const auto facts = syscalls::statx_at(slot.directory(), name, transaction_facts);
  return facts && Inode::of(facts.value()) == inode();
}

Outcome TemporaryFile::abandon(const Slot& slot, Outcome outcome) const {
  const auto unlinked = unlink_if(slot.directory(), name_.c_str(), inode());
  if (!unlinked) outcome.kept.push_back(name_);
  return outcome;
}

Outcome with_temporary_file(const Slot& slot, const std::string& name, mode_t mode,
                            const std::function<Outcome(TemporaryFile)>& attempt) {
  const auto with = [&](auto create) {
    auto created = create(slot, name, mode);
    return created ? attempt(created.take()) : creation_failed(slot, name, created.failure());
  };
  Outcome outcome = with(TemporaryFile::create_unnamed);
  if (needs_named_file(outcome)) outcome = with(TemporaryFile::create_named);
  return outcome;
}

}  // namespace workspace_authority
