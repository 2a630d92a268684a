#include "transaction/names.h"

#include <sys/stat.h>

#include <cerrno>
#include <string_view>

#include "kernel_abi.h"
#include "syscalls.h"

namespace workspace_authority {
namespace {

constexpr std::string_view temporary_suffix = ".tmp";

// A transaction keeps at most one file; a name can be taken only by a repetition of the same transaction.
constexpr int kept_names = 64;

std::string kept_name(const std::string& temporary_name, int attempt) {
  std::string name = temporary_name;
  const bool suffixed = name.size() > temporary_suffix.size() &&
                        std::string_view(name).substr(name.size() - temporary_suffix.size()) == temporary_suffix;
  if (suffixed) name.resize(name.size() - temporary_suffix.size());
  name += ".kept";
  if (attempt > 0) name += "-" + std::to_string(attempt);
  return name;
}

}  // namespace

Status move_name(int from_directory, const char* from, int to_directory, const char* to, unsigned flags,
                 const Inode& moving) {
  const Status moved = syscalls::renameat2(from_directory, from, to_directory, to, flags);
  if (moved) return moved;
  const auto there = syscalls::statx_at(to_directory, to, transaction_facts);
  if (there && Inode::of(there.value()) == moving) {
    // A second name of the same inode (a hard link) looks alike, but then the first one still stands.
    const auto here = syscalls::statx_at(from_directory, from, transaction_facts);
    const bool left = here.failed_with(ENOENT) || (here && Inode::of(here.value()) != moving);
    if (left) return Done{};
  }
  return moved;
}

Result<bool> unlink_if(int directory, const char* name, const Inode& inode) {
  const auto facts = syscalls::statx_at(directory, name, transaction_facts);
  if (facts.failed_with(ENOENT)) return false;
  if (!facts) return facts.failure();
  if (S_ISDIR(facts->stx_mode) || Inode::of(facts.value()) != inode) return false;
  const Status unlinked = syscalls::unlinkat(directory, name, 0);
  if (unlinked) return true;
  // As in move_name: gone is gone, whatever the answer was.
  if (syscalls::statx_at(directory, name, transaction_facts).failed_with(ENOENT)) return true;
  return unlinked.failure();
}

std::vector<std::string> keep_aside(const Slot& slot, const std::string& temporary_name) {
  const auto facts = syscalls::statx_at(slot.directory(), temporary_name.c_str(), transaction_facts);
  if (facts.failed_with(ENOENT)) return {};
  for (int attempt = 0; facts && attempt < kept_names; ++attempt) {
    const std::string name = kept_name(temporary_name, attempt);
    const Status moved = move_name(slot.directory(), temporary_name.c_str(), slot.directory(), name.c_str(),
                                   kernel::rename_noreplace, Inode::of(facts.value()));
    if (moved) return {name};
    if (moved.failed_with(ENOENT)) return {};
    if (!moved.failed_with(EEXIST)) break;
  }
  // It stays where it is, which is as safe.
  return {temporary_name};
}

}  // namespace workspace_authority
