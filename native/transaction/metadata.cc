#include "transaction/metadata.h"

#include <cerrno>
#include <string_view>
#include <vector>

#include "syscalls.h"

namespace workspace_authority {
namespace {

constexpr mode_t carried_mode = 01777;

bool is_carried(std::string_view name) {
  return name != "security.capability" && name != "security.ima" && name != "security.evm";
}

/** Labels that the kernel itself puts on every new file; a difference is set right, a surplus is left alone. */
bool is_label(std::string_view name) { return name.substr(0, 9) == "security."; }

/** Space and device errors stay what they are; any other means that this file cannot have that attribute. */
Failure not_carried(const Failure& failure) {
  switch (failure.error) {
    case ENOSPC:
    case EDQUOT:
    case EIO:
    case ENOMEM: return failure;
    default: return Failure{failure.error, failure.syscall, Refusal::metadata};
  }
}

Result<std::vector<std::string>> attribute_names(int fd) {
  const auto list = syscalls::flistxattr(fd);
  if (!list) return not_carried(list.failure());
  std::vector<std::string> names;
  for (std::size_t start = 0; start < list->size(); start += names.back().size() + 1) {
    names.emplace_back(list->c_str() + start);
  }
  return names;
}

}  // namespace

Result<Metadata> Metadata::read(int fd) {
  const auto facts = syscalls::statx_fd(fd, STATX_MODE | STATX_UID | STATX_GID);
  if (!facts) return facts.failure();
  Metadata metadata;
  metadata.owner_ = facts->stx_uid;
  metadata.group_ = facts->stx_gid;
  metadata.mode_ = facts->stx_mode & carried_mode;
  const auto names = attribute_names(fd);
  if (!names) return names.failure();
  for (const std::string& name : names.value()) {
    if (!is_carried(name)) continue;
    auto value = syscalls::fgetxattr(fd, name.c_str());
    if (!value) return not_carried(value.failure());
    metadata.attributes_.emplace(name, value.take());
  }
  return metadata;
}

Status Metadata::apply_to(int fd, const struct statx& facts) const {
  if (owner_ != facts.stx_uid || group_ != facts.stx_gid) {
    const Status owned = syscalls::fchown(fd, owner_, group_);
    if (!owned) return not_carried(owned.failure());
  }
  const Status attributes = apply_attributes(fd);
  if (!attributes) return attributes;
  // After the access list, which rewrites the permission bits, and after fchown(2), which may clear some.
  const Status mode = syscalls::fchmod(fd, mode_);
  return mode ? mode : not_carried(mode.failure());
}

Status Metadata::apply_attributes(int fd) const {
  const auto present = attribute_names(fd);
  if (!present) return present.failure();
  for (const std::string& name : present.value()) {
    if (is_label(name) || attributes_.count(name) > 0) continue;
    const Status removed = syscalls::fremovexattr(fd, name.c_str());
    if (!removed) return not_carried(removed.failure());
  }
  for (const auto& [name, value] : attributes_) {
    // Setting a security label needs a privilege even when it would not change.
    const auto now = is_label(name) ? syscalls::fgetxattr(fd, name.c_str()) : Result<std::string>(Failure{ENODATA});
    if (now && now.value() == value) continue;
    const Status set = syscalls::fsetxattr(fd, name.c_str(), value);
    if (!set) return not_carried(set.failure());
  }
  return Done{};
}

}  // namespace workspace_authority
