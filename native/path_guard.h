#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "directory_watch.h"
#include "file_facts.h"
#include "held_descriptor.h"
#include "result.h"

namespace workspace_authority {

struct GuardRules {
  std::vector<std::string> closed_shape;
  /** Device (as makedev(3) packs it) and inode. */
  std::vector<std::pair<std::uint64_t, std::uint64_t>> closed_identities;
};

/** A regular file that was read lately, under a name that has not changed since. Belongs to a KnownDirectory. */
struct KnownFile {
  std::string name;
  /** From when it was last read. */
  FileFacts facts;
  /** Set only for files read again and again. */
  std::shared_ptr<HeldDescriptor> descriptor;
  bool alive = true;
  std::uint64_t last_used = 0;
  /** Where it stands among the held files; only with a descriptor. */
  std::list<std::shared_ptr<KnownFile>>::iterator held_at;
};

/** A directory below the root that is watched since before it was looked at. Belongs to the memory of one guard. */
struct KnownDirectory {
  std::string path;
  Place place;
  int watch = -1;
  KnownDirectory* parent = nullptr;
  std::vector<KnownDirectory*> children;
  /** Set only for recently used directories, so that a guard does not eat up the descriptors of the process. */
  std::shared_ptr<HeldDescriptor> descriptor;
  /** Found open under the rules, since it is watched. */
  bool verified = false;
  /** False once something happened to it; it is out of the memory then. */
  bool alive = true;
  std::uint64_t last_used = 0;
  /** Counts changes of entries. */
  std::uint64_t changes = 0;
  /** Keys are the names of the values. */
  std::unordered_map<std::string_view, std::shared_ptr<KnownFile>> files;
};

/**
 * One use of a directory that the guard let through: held while the caller works in it, then confirmed. What the caller
 * did counts only after `PathGuard::confirm` has said that it holds.
 */
struct Passage {
  std::shared_ptr<HeldDescriptor> directory;
  /** Null where the directory cannot be watched. */
  std::shared_ptr<KnownDirectory> known;
  /** Without a watch: every directory on the way, to be looked at again. */
  std::vector<std::shared_ptr<HeldDescriptor>> unwatched;
  /** `changes` of `known` when the passage began. */
  std::uint64_t changes = 0;

  /** The name asked for, when it is a known file: opening it has no side effect then. */
  std::shared_ptr<KnownFile> file;
  /** Its facts: a file that still has them after a read was not written to during it. */
  FileFacts facts;
  /** May be null. Open since a time when the name led to it, which it does until an event says otherwise. */
  std::shared_ptr<HeldDescriptor> descriptor;

  [[nodiscard]] int fd() const { return directory->fd(); }
};

/**
 * Remembers which directories below a root are open to file access; see PathGuard in binding.ts. Safe on every thread.
 *
 * Directories are used only through descriptors that were opened one component after another and examined. So a rename
 * that the watch has not reported yet (see DirectoryWatch) cannot lead into another directory: the use counts as done
 * before it.
 */
class PathGuard : private WatchListener {
 public:
  // Each round means that somebody changed the directories meanwhile; nobody keeps that up eight times by accident.
  static constexpr int attempts = 8;

  /** `watch` may be null, and is not used on file systems that do not report all changes made on this machine. */
  PathGuard(std::shared_ptr<HeldDirectory> root, GuardRules rules, std::shared_ptr<DirectoryWatch> watch);
  PathGuard(const PathGuard&) = delete;
  PathGuard& operator=(const PathGuard&) = delete;
  ~PathGuard() override;

  [[nodiscard]] const HeldDirectory& root() const { return *root_; }

  /**
   * The directory, when it is known to be open; nothing when it must be examined first, or when that would have to wait
   * for the disk. `name` is the entry that is going to be opened in it. Never blocks.
   */
  std::optional<Passage> recall(std::string_view directory, std::string_view name);
  /**
   * Walks to the directory and examines what is not known. WA_CLOSED_DIRECTORY, an errno of the walk, or EAGAIN when it
   * kept changing. `directory` is empty for the root. Pool threads only.
   */
  Result<Passage> examine(std::string_view directory, std::string_view name = {});

  enum class Verdict { holds, changed, closed };
  /** Whether the directory of the passage was open, and the name of a known file led to it, the whole time. */
  Verdict confirm(const Passage& passage);
  /**
   * The same for a passage whose file was opened by name and is `facts`; when it holds, the file is remembered. A file
   * that is read again unchanged keeps its descriptor, taken from `fd` (may be null).
   */
  Verdict confirm(const Passage& passage, std::string_view name, const FileFacts& facts, UniqueFd* fd);

  /**
   * Examines `directory` (empty: the root), calls `use(const Passage&) -> Result<T>` and gives its answer once it is
   * confirmed; again from the start when the directory changed meanwhile, then EAGAIN. Pool threads only.
   */
  template <typename Use>
  auto use(std::string_view directory, Use use) -> decltype(use(std::declval<const Passage&>())) {
    for (int attempt = 0; attempt < attempts; ++attempt) {
      const auto passage = examine(directory);
      if (!passage) return passage.failure();
      auto outcome = use(passage.value());
      const Verdict verdict = confirm(passage.value());
      if (verdict == Verdict::closed) return Failure::refused(Refusal::closed_directory);
      if (verdict == Verdict::holds) return outcome;
    }
    return Failure{EAGAIN, nullptr, Refusal::none};
  }

  /** WA_CLOSED_DIRECTORY when the entry of an open directory is itself a closed directory. A missing entry is none. */
  [[nodiscard]] Status refuse_closed_entry(int directory, const char* name) const;
  /** Examines one open directory by the rules, without any memory. */
  [[nodiscard]] Result<bool> is_closed(int directory) const;

 private:
  using Known = std::shared_ptr<KnownDirectory>;

  Result<Passage> walk(std::string_view directory, std::string_view name);
  Result<Passage> walk_unwatched(std::string_view directory);
  Result<std::shared_ptr<HeldDescriptor>> open_directory(int from, const char* name) const;

  // All below: with the mutex of the watch held.
  Known find(std::string_view path) const;
  Known root_entry();
  Result<Known> remember(std::string path, const Place& place, int directory, KnownDirectory* parent);
  /** With everything below it. */
  void erase(KnownDirectory* known);
  void erase_leaf(KnownDirectory* known);
  void forget_everything();
  void hold(const Known& known, std::shared_ptr<HeldDescriptor> descriptor);
  void make_room();
  void remember_file(KnownDirectory& known, std::string_view name, const FileFacts& facts, UniqueFd* fd);
  void keep_open(const std::shared_ptr<KnownFile>& file, std::uint64_t used_before, UniqueFd& fd);
  void forget_file(KnownDirectory& known, std::string_view name);
  void forget_files(KnownDirectory& known);
  Passage passage_through(const Known& known, std::string_view name);

  void entry_changed(int watch, std::string_view name, bool appeared) override;
  void directory_gone(int watch) override;
  void everything_lost() override;

  std::shared_ptr<HeldDirectory> root_;
  GuardRules rules_;
  std::shared_ptr<DirectoryWatch> watch_;
  /** Keys are the paths of the values. The root is under the empty path. */
  std::unordered_map<std::string_view, Known> known_;
  std::unordered_map<int, KnownDirectory*> by_watch_;
  std::vector<Known> held_;
  /** Those with a descriptor, from the one that was used least recently. */
  std::list<std::shared_ptr<KnownFile>> held_files_;
  std::uint64_t clock_ = 0;
  std::size_t file_count_ = 0;
};

}  // namespace workspace_authority
