#include "regular_file.h"

#include <cerrno>
#include <cstring>

#include "identity.h"
#include "syscalls.h"

namespace workspace_authority {
namespace {

constexpr std::uint64_t read_flags = O_RDONLY | O_NONBLOCK | O_NOCTTY;
// Each round means that the name led elsewhere between two calls.
constexpr int attempts = 8;

}  // namespace

void FileFacts::copy_to(std::int64_t* slots) const {
  static_assert(sizeof(FileFacts) == count * sizeof(std::int64_t));
  std::memcpy(slots, this, sizeof *this);
}

bool FileFacts::same_version(const FileFacts& other) const {
  return inode == other.inode && device == other.device && size == other.size && modified_ns == other.modified_ns &&
         changed_ns == other.changed_ns;
}

FileFacts FileFacts::of(const struct statx& facts) {
  FileFacts result;
  result.size = static_cast<std::int64_t>(facts.stx_size);
  result.modified_ns = nanoseconds(facts.stx_mtime);
  result.changed_ns = nanoseconds(facts.stx_ctime);
  result.inode = static_cast<std::int64_t>(facts.stx_ino);
  result.device = static_cast<std::int64_t>(device_of(facts));
  result.mode = facts.stx_mode;
  result.link_count = facts.stx_nlink;
  result.birth_ns = (facts.stx_mask & STATX_BTIME) != 0 ? nanoseconds(facts.stx_btime) : 0;
  return result;
}

Result<FileFacts> regular_facts(int fd) {
  const auto facts = syscalls::statx_fd(fd, STATX_BASIC_STATS | STATX_BTIME);
  if (!facts) return facts.failure();
  if (!S_ISREG(facts->stx_mode)) return Failure::refused(Refusal::not_regular);
  return FileFacts::of(facts.value());
}

Result<OpenFile> open_regular(int directory, const HeldDirectory& root, const char* path, Lookup lookup,
                              bool known_regular) {
  for (int attempt = 0; attempt < attempts; ++attempt) {
    FileFacts seen;
    if (!known_regular) {
      const auto probe = open_from(directory, root, path, O_PATH, lookup);
      if (!probe) return probe.failure();
      const auto facts = regular_facts(probe->get());
      if (!facts) return facts.failure();
      seen = facts.value();
    }
    auto fd = open_from(directory, root, path, read_flags, lookup);
    // A socket that came meanwhile (open(2)).
    if (fd.failed_with(ENXIO)) return Failure::refused(Refusal::not_regular, "openat2");
    if (!fd) return fd.failure();
    const auto facts = regular_facts(fd->get());
    if (!facts) return facts.failure();
    if (known_regular || (seen.inode == facts->inode && seen.device == facts->device)) {
      return OpenFile{fd.take(), facts.value()};
    }
  }
  return Failure{EAGAIN, "openat2", Refusal::none};
}

}  // namespace workspace_authority
