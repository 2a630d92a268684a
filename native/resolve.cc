#include "resolve.h"

#include <cerrno>
#include <utility>

#include "kernel_abi.h"
#include "syscalls.h"

namespace workspace_authority {
namespace {

// Without `..` in a path the kernel answers EAGAIN almost never (0 in 3 million racing lookups); 128 is what other
// users of openat2 settled on, and then the caller is told to come back.
constexpr int attempts = 128;

constexpr std::uint64_t within_root =
    kernel::resolve_beneath | kernel::resolve_no_magiclinks | kernel::resolve_no_symlinks;

/** Opens the directory of `path` O_RDONLY, through the guard when there is one. */
Result<UniqueFd> open_directory_of(const HeldDirectory& root, const SplitPath& path, PathGuard* guard) {
  constexpr std::uint64_t flags = O_RDONLY | O_DIRECTORY;
  if (guard == nullptr) {
    const std::string directory(path.directory.empty() ? std::string_view(".") : path.directory);
    return open_beneath(root, directory.c_str(), flags);
  }
  return guard->use(path.directory, [&](const Passage& passage) -> Result<UniqueFd> {
    const auto open = guard->refuse_closed_entry(passage.fd(), std::string(path.name).c_str());
    if (!open) return open.failure();
    return open_from(passage.fd(), root, ".", flags);
  });
}

}  // namespace

Result<UniqueFd> open_from(int directory, const HeldDirectory& root, const char* path, std::uint64_t flags,
                           Lookup lookup, std::uint64_t mode) {
  std::uint64_t resolve = within_root;
  if (!root.allow_mounts()) resolve |= kernel::resolve_no_xdev;
  if (lookup == Lookup::cached_only) {
    return syscalls::openat2(directory, path, flags, mode, resolve | kernel::resolve_cached);
  }
  for (int attempt = 1;; ++attempt) {
    auto fd = syscalls::openat2(directory, path, flags, mode, resolve);
    if (!fd.failed_with(EAGAIN) || attempt == attempts) return fd;
  }
}

Result<Probe> probe_from(int directory, const HeldDirectory& root, const char* path, std::uint64_t flags) {
  flags |= O_PATH;
  if (root.allow_mounts() && directory == root.fd()) {
    // Without a mount on the way it is the file system of the root; asking procfs takes three times as long as all the
    // rest.
    auto near =
        syscalls::openat2(directory, path, flags, 0, within_root | kernel::resolve_no_xdev | kernel::resolve_cached);
    if (near) return Probe{near.take(), root.file_system()};
    if (!near.failed_with(EXDEV)) return near.failure();
  }
  auto fd = open_from(directory, root, path, flags, Lookup::cached_only);
  if (!fd) return fd.failure();
  const FileSystem file_system = root.file_system_of(fd->get());
  return Probe{fd.take(), file_system};
}

SplitPath split_path(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return {{}, path};
  return {path.substr(0, slash), path.substr(slash + 1)};
}

Result<Parent> open_parent(const HeldDirectory& root, std::string_view path, PathGuard* guard) {
  const SplitPath split = split_path(path);
  auto directory = open_directory_of(root, split, guard);
  if (!directory) return directory.failure();
  return Parent{directory.take(), std::string(split.name)};
}

Result<bool> parent_stands(const HeldDirectory& root, std::string_view path, const Parent& parent, PathGuard* guard) {
  const auto now = open_directory_of(root, split_path(path), guard);
  if (now.failed_with(ENOENT) || now.failed_with(ENOTDIR) || now.failed_with(ELOOP) || now.failed_with(EXDEV)) {
    return false;
  }
  if (!now) return now.failure();
  const auto expected = place_of(parent.directory.get());
  if (!expected) return expected.failure();
  const auto found = place_of(now->get());
  if (!found) return found.failure();
  return expected.value() == found.value();
}

}  // namespace workspace_authority
