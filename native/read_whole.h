#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "held_descriptor.h"
#include "path_guard.h"
#include "regular_file.h"
#include "result.h"

/** Reading a whole file in one piece; knows no JavaScript. */
namespace workspace_authority {

/** Largest file that is read through a scratch buffer; above, the result's own memory is filled without a copy. */
constexpr std::size_t small_file = std::size_t{64} * 1024;
constexpr std::size_t scratch_size = small_file + 1;

/** A regular file that was opened through the guard, to be confirmed once its content has been read. */
struct GuardedFile {
  OpenFile file;
  /** Without a directory when there is no guard. */
  Passage passage;
  std::string name;
};

enum class CachedAnswer {
  /** `facts` are filled and the content is in one of the buffers. */
  content,
  /** `failure` says why not. */
  failed,
  /** The kernel would have had to wait, or somebody is changing the file. */
  unknown,
};

/** Where content goes: files of at most `least_size` bytes into `least`, larger ones into `scratch`; one byte more
 * each. */
struct ReadBuffers {
  char* least = nullptr;
  std::size_t least_size = 0;
  char* scratch = nullptr;
};

/** What to make of a file that changed a moment ago: a write(2) that is still going on shows in nothing. */
enum class RecentChange {
  unknown,
  /** The content may be half of one version and half of another; the caller knows the one that it will accept. */
  accepted,
};

/** Reads a file of at most `small_file` bytes without ever waiting. */
CachedAnswer read_without_waiting(const HeldDirectory& root, const char* path, std::uint64_t limit, PathGuard* guard,
                                  RecentChange recent, const ReadBuffers& buffers, FileFacts& facts, Failure& failure);

/** Opens without ever waiting; nothing when that is not possible or fails. */
std::optional<GuardedFile> open_without_waiting(const HeldDirectory& root, std::string_view path, PathGuard* guard);
/** Opens through the guard. Pool threads only. */
Result<GuardedFile> open_guarded(const HeldDirectory& root, const std::string& path, PathGuard* guard);

enum class Fill {
  complete,
  /**
   * The file or its directories changed while they were read, as far as size and times can tell: two writes within one
   * tick of the file system's clock look like one.
   */
  changed,
  closed,
};
/** Fills `buffer` with the `file.facts.size` bytes of the file. Pool threads only. */
Result<Fill> fill(const GuardedFile& file, PathGuard* guard, char* buffer);
/** Only whether the directories stood still and open. */
Fill confirm_guarded(const GuardedFile& file, PathGuard* guard);

}  // namespace workspace_authority
