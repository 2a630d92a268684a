#include "regular_file.h"

#include <cerrno>

#include "syscalls.h"

namespace workspace_authority {
namespace {

constexpr std::uint64_t read_flags = O_RDONLY | O_NONBLOCK | O_NOCTTY;
// Each round means that the name led elsewhere between two calls.
constexpr int attempts = 8;

Result<FileFacts> probe_regular(int directory, const HeldDirectory& root, const char* path, Lookup lookup) {
  if (lookup == Lookup::may_block) {
    const auto fd = open_from(directory, root, path, O_PATH);
    return fd ? regular_facts(fd->get(), lookup) : fd.failure();
  }
  const auto probe = probe_from(directory, root, path);
  if (!probe) return probe.failure();
  if (probe->file_system == FileSystem::foreign) return Failure{EAGAIN, "openat2"};
  return regular_facts(probe->fd.get(), lookup);
}

}  // namespace

Result<FileFacts> regular_facts(int fd, Lookup lookup) {
  const auto facts = syscalls::statx_fd(
      fd, STATX_BASIC_STATS | STATX_BTIME,
      lookup == Lookup::cached_only ? syscalls::Freshness::remembered : syscalls::Freshness::current);
  if (!facts) return facts.failure();
  if (!S_ISREG(facts->stx_mode)) return Failure::refused(Refusal::not_regular);
  return FileFacts::of(facts.value());
}

Result<UniqueFd> open_known_regular(int directory, const HeldDirectory& root, const char* name, Lookup lookup) {
  auto fd = open_from(directory, root, name, read_flags, lookup);
  // A socket (open(2)).
  if (fd.failed_with(ENXIO)) return Failure::refused(Refusal::not_regular, "openat2");
  return fd;
}

Result<OpenFile> open_regular(int directory, const HeldDirectory& root, const char* path, Lookup lookup) {
  for (int attempt = 0; attempt < attempts; ++attempt) {
    const auto seen = probe_regular(directory, root, path, lookup);
    if (!seen) return seen.failure();
    auto fd = open_known_regular(directory, root, path, lookup);
    if (!fd) return fd.failure();
    const auto facts = regular_facts(fd->get(), lookup);
    if (!facts) return facts.failure();
    if (seen->inode == facts->inode && seen->device == facts->device) return OpenFile{fd.take(), facts.value()};
  }
  return Failure{EAGAIN, "openat2", Refusal::none};
}

}  // namespace workspace_authority
