#include "transaction/metadata.h"

#include <cerrno>
#include <string>
#include <string_view>

#include "syscalls.h"

namespace workspace_authority {
namespace {

constexpr mode_t carried_mode = 01777;

bool never_carried(std::string_view name) {
  return name == "security.capability" || name == "security.ima" || name == "security.evm";
}

/** Labels that the kernel itself puts on every new file; a difference is set right, a surplus is left alone. */
bool kept_on_new_file(std::string_view name) { return name.substr(0, 9) == "security."; }

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

template <typename Visit>
Status for_each_name(const std::string& names, Visit visit) {
  for (std::size_t start = 0; start < names.size();) {
    const char* name = names.c_str() + start;
    const Status status = visit(name);
    if (!status) return status;
    start += std::string_view(name).size() + 1;
  }
  return Done{};
}

bool contains(const std::string& names, std::string_view wanted) {
  bool found = false;
  static_cast<void>(for_each_name(names, [&](const char* name) -> Status {
    found = found || name == wanted;
    return Done{};
  }));
  return found;
}

Status carry_attribute(int from, int to, const char* name) {
  const auto value = syscalls::fgetxattr(from, name);
  if (!value) return not_carried(value.failure());
  // Setting a security label needs a privilege even when it would not change.
  const auto present = syscalls::fgetxattr(to, name);
  if (present && present.value() == value.value()) return Done{};
  const Status set = syscalls::fsetxattr(to, name, value.value());
  return set ? set : not_carried(set.failure());
}

Status carry_attributes(int from, int to) {
  const auto wanted = syscalls::flistxattr(from);
  if (!wanted) return not_carried(wanted.failure());
  const auto present = syscalls::flistxattr(to);
  if (!present) return not_carried(present.failure());
  const Status removed = for_each_name(present.value(), [&](const char* name) -> Status {
    if (kept_on_new_file(name) || contains(wanted.value(), name)) return Done{};
    const Status status = syscalls::fremovexattr(to, name);
    return status ? status : not_carried(status.failure());
  });
  if (!removed) return removed;
  return for_each_name(wanted.value(), [&](const char* name) -> Status {
    return never_carried(name) ? Status(Done{}) : carry_attribute(from, to, name);
  });
}

}  // namespace

Status carry_metadata(int from, const struct statx& from_facts, int to, const struct statx& to_facts) {
  if (from_facts.stx_uid != to_facts.stx_uid || from_facts.stx_gid != to_facts.stx_gid) {
    const Status owned = syscalls::fchown(to, from_facts.stx_uid, from_facts.stx_gid);
    if (!owned) return not_carried(owned.failure());
  }
  const Status attributes = carry_attributes(from, to);
  if (!attributes) return attributes;
  // After the access list, which rewrites the permission bits, and after fchown(2), which may clear some.
  const Status mode = syscalls::fchmod(to, from_facts.stx_mode & carried_mode);
  return mode ? mode : not_carried(mode.failure());
}

bool same_ownership(const struct statx& left, const struct statx& right) {
  return left.stx_uid == right.stx_uid && left.stx_gid == right.stx_gid &&
         (left.stx_mode & carried_mode) == (right.stx_mode & carried_mode);
}

}  // namespace workspace_authority
