#include "read_whole.h"

#include <cerrno>
#include <utility>

#include "resolve.h"
#include "syscalls.h"

namespace workspace_authority {
namespace {

/**
 * Reads what memory holds. Where a file system knows no RWF_NOWAIT (tmpfs, overlayfs), the pages are memory, or nobody
 * can tell: then a small file is read directly.
 */
Result<std::size_t> read_cached(int fd, char* buffer, std::size_t length) {
  auto count = syscalls::pread_nowait(fd, buffer, length, 0);
  if (count.failed_with(EOPNOTSUPP)) return syscalls::pread(fd, buffer, length, 0);
  return count;
}

}  // namespace

CachedAnswer read_without_waiting(const HeldDirectory& root, std::string_view path, std::uint64_t limit,
                                  PathGuard* guard, char* scratch, FileFacts& facts, Failure& failure) {
  int directory = root.fd();
  std::string_view name = path;
  std::optional<Passage> passage;
  if (guard != nullptr) {
    const SplitPath split = split_path(path);
    passage = guard->recall(split.directory, split.name);
    if (!passage.has_value()) return CachedAnswer::unknown;
    directory = passage->fd();
    name = split.name;
  }
  const bool regular = passage.has_value() && passage->regular;
  const auto file = open_regular(directory, root, name.data(), Lookup::cached_only, regular);
  CachedAnswer answer = CachedAnswer::content;
  if (!file) {
    // EINVAL: a kernel before 5.12 does not know RESOLVE_CACHED.
    if (file.failed_with(EAGAIN) || file.failed_with(EINVAL)) return CachedAnswer::unknown;
    failure = file.failure();
    answer = CachedAnswer::failed;
  } else {
    facts = file->facts;
    const auto size = static_cast<std::uint64_t>(facts.size);
    if (size > limit) {
      failure = Failure{EFBIG, "statx", Refusal::none};
      answer = CachedAnswer::failed;
    } else if (size > small_file) {
      return CachedAnswer::unknown;
    } else {
      // One byte more than there should be: a file that grew answers it.
      const auto count = read_cached(file->fd.get(), scratch, size + 1);
      if (!count || count.value() != size) return CachedAnswer::unknown;
      const auto after = regular_facts(file->fd.get());
      if (!after || !after->same_version(facts)) return CachedAnswer::unknown;
    }
  }
  if (passage.has_value()) {
    const auto verdict = guard->confirm(*passage, file.ok() ? name : std::string_view());
    if (verdict != PathGuard::Verdict::holds) return CachedAnswer::unknown;
  }
  return answer;
}

std::optional<GuardedFile> open_without_waiting(const HeldDirectory& root, std::string_view path, PathGuard* guard) {
  GuardedFile opened;
  opened.name = std::string(path);
  int directory = root.fd();
  if (guard != nullptr) {
    const SplitPath split = split_path(path);
    auto passage = guard->recall(split.directory, split.name);
    if (!passage.has_value()) return std::nullopt;
    opened.passage = std::move(*passage);
    opened.name = std::string(split.name);
    directory = opened.passage.fd();
  }
  auto file = open_regular(directory, root, opened.name.c_str(), Lookup::cached_only, opened.passage.regular);
  if (!file) return std::nullopt;
  opened.file = file.take();
  return opened;
}

Result<GuardedFile> open_guarded(const HeldDirectory& root, const std::string& path, PathGuard* guard) {
  GuardedFile opened;
  if (guard == nullptr) {
    auto file = open_regular(root.fd(), root, path.c_str(), Lookup::may_block, false);
    if (!file) return file.failure();
    opened.file = file.take();
    opened.name = path;
    return opened;
  }
  const SplitPath split = split_path(path);
  opened.name = std::string(split.name);
  for (int attempt = 0; attempt < PathGuard::attempts; ++attempt) {
    auto passage = guard->examine(split.directory, split.name);
    if (!passage) return passage.failure();
    auto file = open_regular(passage->fd(), root, opened.name.c_str(), Lookup::may_block, passage->regular);
    if (file) {
      opened.file = file.take();
      opened.passage = passage.take();
      return opened;
    }
    // A missing file is an answer only if its directory stood still.
    const auto verdict = guard->confirm(passage.value());
    if (verdict == PathGuard::Verdict::closed) return Failure::refused(Refusal::closed_directory);
    if (verdict == PathGuard::Verdict::holds) return file.failure();
  }
  return Failure{EAGAIN, "openat2", Refusal::none};
}

Result<Fill> fill(const GuardedFile& file, PathGuard* guard, char* buffer) {
  const int fd = file.file.fd.get();
  const auto size = static_cast<std::size_t>(file.file.facts.size);
  for (std::size_t done = 0; done < size;) {
    const auto count = syscalls::pread(fd, buffer + done, size - done, done);
    if (!count) return count.failure();
    if (count.value() == 0) return Fill::changed;
    done += count.value();
  }
  char beyond = 0;
  const auto more = syscalls::pread(fd, &beyond, 1, size);
  if (!more) return more.failure();
  const auto after = regular_facts(fd);
  if (!after) return after.failure();
  if (more.value() != 0 || !after->same_version(file.file.facts)) return Fill::changed;
  return confirm_guarded(file, guard);
}

Fill confirm_guarded(const GuardedFile& file, PathGuard* guard) {
  if (guard == nullptr) return Fill::complete;
  switch (guard->confirm(file.passage, file.name)) {
    case PathGuard::Verdict::holds: return Fill::complete;
    case PathGuard::Verdict::closed: return Fill::closed;
    case PathGuard::Verdict::changed: break;
  }
  return Fill::changed;
}

}  // namespace workspace_authority
