#include "read_whole.h"

#include <cerrno>
#include <ctime>
#include <utility>

#include "resolve.h"
#include "syscalls.h"

namespace workspace_authority {
namespace {

// Each round means that the file is not as it was last time, or is being written to.
constexpr int cached_attempts = 3;

/**
 * A write(2) sets the times when it begins, so one that goes on while the file is read leaves them as they were found.
 * One of a small file takes longer than this only where its process gets no time at all (108 ms were seen with three
 * busy processes for every processor; the kernel's own brake on writers pauses for up to 200 ms). A file that changed
 * so lately is read on the pool, which waits for writers.
 */
constexpr std::int64_t write_may_run_ns = 500'000'000;

bool changed_just_now(const FileFacts& facts, RecentChange recent) {
  if (recent == RecentChange::accepted) return false;
  struct timespec now = {};
  static_cast<void>(::clock_gettime(CLOCK_REALTIME_COARSE, &now));
  const std::int64_t age = now.tv_sec * 1'000'000'000LL + now.tv_nsec - facts.changed_ns;
  // The coarse clock lags by a tick; a time far in the future is the work of a clock that was set back.
  return age > -write_may_run_ns && age < write_may_run_ns;
}

/**
 * Reads what memory holds. Where a file system knows no RWF_NOWAIT (tmpfs, overlayfs), the pages are memory, or nobody
 * can tell: then a small file is read directly.
 */
Result<std::size_t> read_cached(int fd, char* buffer, std::size_t length) {
  auto count = syscalls::pread_nowait(fd, buffer, length, 0);
  if (count.failed_with(EOPNOTSUPP)) return syscalls::pread(fd, buffer, length, 0);
  return count;
}

/** EINVAL: a kernel before 5.12 does not know RESOLVE_CACHED. */
bool must_wait(const Failure& failure) { return failure.error == EAGAIN || failure.error == EINVAL; }

/** An open file that nothing has been read from yet, and facts of it from before that. */
struct Opened {
  UniqueFd fd;
  FileFacts before;
};

Result<Opened> open_cached(const Passage& passage, const HeldDirectory& root, const char* name) {
  // Where mounts are allowed, one may just have covered the name.
  if (passage.file != nullptr && !root.allow_mounts()) {
    auto fd = open_known_regular(passage.fd(), root, name, Lookup::cached_only);
    if (!fd) return fd.failure();
    return Opened{fd.take(), passage.facts};
  }
  auto file = open_regular(passage.fd(), root, name, Lookup::cached_only);
  if (!file) return file.failure();
  return Opened{std::move(file->fd), file->facts};
}

/** Reads through the descriptor that is kept for a file read again and again; false when it is not as it was. */
bool read_kept(const Passage& passage, std::uint64_t limit, RecentChange recent, const ReadBuffers& buffers) {
  const auto size = static_cast<std::uint64_t>(passage.facts.size);
  if (size > limit || size > small_file) return false;
  const int fd = passage.descriptor->fd();
  const auto count = read_cached(fd, size <= buffers.least_size ? buffers.least : buffers.scratch, size + 1);
  if (!count || count.value() != size) return false;
  const auto after = regular_facts(fd, Lookup::cached_only);
  return after && after->same_version(passage.facts) && !changed_just_now(passage.facts, recent);
}

/** Reads until two looks at the file before and after are equal. */
CachedAnswer read_opened(int fd, const FileFacts& before, std::uint64_t limit, RecentChange recent,
                         const ReadBuffers& buffers, FileFacts& facts, Failure& failure) {
  facts = before;
  for (int attempt = 0; attempt < cached_attempts; ++attempt) {
    const auto size = static_cast<std::uint64_t>(facts.size);
    const bool readable = size <= limit && size <= small_file;
    std::size_t count = size;
    if (readable) {
      // One byte more than there should be: a file that grew answers it.
      const auto read = read_cached(fd, size <= buffers.least_size ? buffers.least : buffers.scratch, size + 1);
      if (!read) return CachedAnswer::unknown;
      count = read.value();
    }
    const auto after = regular_facts(fd, Lookup::cached_only);
    if (!after) {
      failure = after.failure();
      return CachedAnswer::failed;
    }
    const bool same = after->same_version(facts);
    facts = after.value();
    if (!same || count != size) continue;
    if (readable) return changed_just_now(facts, recent) ? CachedAnswer::unknown : CachedAnswer::content;
    if (size <= limit) return CachedAnswer::unknown;
    failure = Failure{EFBIG, "statx", Refusal::none};
    return CachedAnswer::failed;
  }
  return CachedAnswer::unknown;
}

CachedAnswer read_unguarded(const HeldDirectory& root, const char* path, std::uint64_t limit, RecentChange recent,
                            const ReadBuffers& buffers, FileFacts& facts, Failure& failure) {
  const auto file = open_regular(root.fd(), root, path, Lookup::cached_only);
  if (file) return read_opened(file->fd.get(), file->facts, limit, recent, buffers, facts, failure);
  failure = file.failure();
  return must_wait(failure) ? CachedAnswer::unknown : CachedAnswer::failed;
}

}  // namespace

CachedAnswer read_without_waiting(const HeldDirectory& root, const char* path, std::uint64_t limit, PathGuard* guard,
                                  RecentChange recent, const ReadBuffers& buffers, FileFacts& facts, Failure& failure) {
  if (guard == nullptr) return read_unguarded(root, path, limit, recent, buffers, facts, failure);
  const SplitPath split = split_path(path);
  const auto passage = guard->recall(split.directory, split.name);
  if (!passage.has_value()) return CachedAnswer::unknown;
  if (passage->descriptor != nullptr && read_kept(*passage, limit, recent, buffers)) {
    facts = passage->facts;
    return guard->confirm(*passage) == PathGuard::Verdict::holds ? CachedAnswer::content : CachedAnswer::unknown;
  }
  auto opened = open_cached(*passage, root, path + split.name_offset());
  if (!opened) {
    failure = opened.failure();
    if (must_wait(failure)) return CachedAnswer::unknown;
    return guard->confirm(*passage) == PathGuard::Verdict::holds ? CachedAnswer::failed : CachedAnswer::unknown;
  }
  const CachedAnswer answer = read_opened(opened->fd.get(), opened->before, limit, recent, buffers, facts, failure);
  if (answer == CachedAnswer::unknown) return answer;
  const auto verdict = answer == CachedAnswer::content ? guard->confirm(*passage, split.name, facts, &opened->fd)
                                                       : guard->confirm(*passage);
  return verdict == PathGuard::Verdict::holds ? answer : CachedAnswer::unknown;
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
  auto file = open_regular(directory, root, opened.name.c_str(), Lookup::cached_only);
  if (!file) return std::nullopt;
  opened.file = file.take();
  return opened;
}

Result<GuardedFile> open_guarded(const HeldDirectory& root, const std::string& path, PathGuard* guard) {
  GuardedFile opened;
  if (guard == nullptr) {
    auto file = open_regular(root.fd(), root, path.c_str(), Lookup::may_block);
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
    auto file = open_regular(passage->fd(), root, opened.name.c_str(), Lookup::may_block);
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
  syscalls::wait_for_writers(fd);
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
  switch (guard->confirm(file.passage, file.name, file.file.facts, nullptr)) {
    case PathGuard::Verdict::holds: return Fill::complete;
    case PathGuard::Verdict::closed: return Fill::closed;
    case PathGuard::Verdict::changed: break;
  }
  return Fill::changed;
}

}  // namespace workspace_authority
