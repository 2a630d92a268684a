#include "path_guard.h"

#include <sys/sysmacros.h>

#include <algorithm>
#include <cerrno>

#include "kernel_abi.h"
#include "resolve.h"
#include "syscalls.h"

namespace workspace_authority {
namespace {

// A watch costs about 1 KiB of kernel memory; an environment's watches come out of the user's
// fs.inotify.max_user_watches.
constexpr std::size_t most_known = 4096;
// Held descriptors spare a lookup; a process may have as few as 1024 in all.
constexpr std::size_t most_held = 64;
constexpr std::size_t most_held_files = 64;
// About 300 bytes each.
constexpr std::size_t most_files = 16384;

/**
 * File systems of the local kernel: every change goes through it and is reported. On network file systems and FUSE
 * another machine or process changes directories unseen. Magic numbers from statfs(2) and the kernel's sources.
 */
bool reports_all_changes(std::uint64_t type) {
  switch (type) {
    case 0xEF53:      // ext2, ext3, ext4
    case 0x58465342:  // xfs
    case 0x9123683E:  // btrfs
    case 0x01021994:  // tmpfs
    case 0x794C7630:  // overlayfs
    case 0xF2F52010:  // f2fs
    case 0x2FC12FC1:  // zfs
      return true;
    default: return false;
  }
}

constexpr Failure kept_changing{EAGAIN, nullptr, Refusal::none};

/** Makes room for one more: the one that was used least recently lets go of its descriptor. */
template <typename Holder>
void make_room_for(std::vector<std::shared_ptr<Holder>>& held, std::size_t most) {
  if (held.size() < most) return;
  const auto oldest = std::min_element(held.begin(), held.end(),
                                       [](const auto& a, const auto& b) { return a->last_used < b->last_used; });
  (*oldest)->descriptor.reset();
  held.erase(oldest);
}

/** Calls `visit(prefix)` for each component's path, from the first to the whole: a, a/b, a/b/c. False stops. */
template <typename Visit>
void each_prefix(std::string_view path, Visit visit) {
  for (std::size_t end = path.find('/');; end = path.find('/', end + 1)) {
    if (!visit(path.substr(0, end)) || end == std::string_view::npos) return;
  }
}

}  // namespace

PathGuard::PathGuard(std::shared_ptr<HeldDirectory> root, GuardRules rules, std::shared_ptr<DirectoryWatch> watch)
    : root_(std::move(root)), rules_(std::move(rules)) {
  if (watch == nullptr) return;
  const auto facts = syscalls::fstatfs(root_->fd());
  if (!facts || !reports_all_changes(static_cast<std::uint64_t>(facts->f_type) & 0xFFFFFFFF)) return;
  watch_ = std::move(watch);
  const std::lock_guard lock(watch_->mutex);
  watch_->enroll(this);
}

PathGuard::~PathGuard() {
  if (watch_ == nullptr) return;
  const std::lock_guard lock(watch_->mutex);
  forget_everything();
  watch_->withdraw(this);
}

std::optional<Passage> PathGuard::recall(std::string_view directory, std::string_view name) {
  if (watch_ == nullptr) return std::nullopt;
  Known known;
  {
    const std::lock_guard lock(watch_->mutex);
    known = find(directory);
    if (known == nullptr || !known->verified) return std::nullopt;
    known->last_used = ++clock_;
    if (known->descriptor != nullptr) return passage_through(known, name);
  }
  // The watch pins the inode, so its number still means the directory that was examined.
  auto fd = open_beneath(*root_, known->path.c_str(), O_PATH | O_DIRECTORY, Lookup::cached_only);
  if (!fd) return std::nullopt;
  const auto place = place_of(fd->get());
  if (!place || place.value() != known->place) return std::nullopt;
  auto descriptor = std::make_shared<HeldDescriptor>(fd.take(), root_->count());
  const std::lock_guard lock(watch_->mutex);
  if (!known->alive) return std::nullopt;
  hold(known, std::move(descriptor));
  return passage_through(known, name);
}

Result<Passage> PathGuard::examine(std::string_view directory, std::string_view name) {
  if (watch_ == nullptr) return walk_unwatched(directory);
  for (int attempt = 0; attempt < attempts; ++attempt) {
    auto passage = walk(directory, name);
    if (!passage.failed_with(EAGAIN)) return passage;
  }
  return kept_changing;
}

PathGuard::Verdict PathGuard::confirm(const Passage& passage) {
  if (passage.known == nullptr) {
    for (const auto& directory : passage.unwatched) {
      const auto closed = is_closed(directory->fd());
      if (!closed) return Verdict::changed;
      if (closed.value()) return Verdict::closed;
    }
    return Verdict::holds;
  }
  const std::lock_guard lock(watch_->mutex);
  watch_->drain();
  const bool stood = passage.known->alive && (passage.file == nullptr || passage.file->alive);
  return stood ? Verdict::holds : Verdict::changed;
}

PathGuard::Verdict PathGuard::confirm(const Passage& passage, std::string_view name, const FileFacts& facts,
                                      UniqueFd* fd) {
  if (passage.known == nullptr) return confirm(passage);
  const std::lock_guard lock(watch_->mutex);
  watch_->drain();
  if (!passage.known->alive) return Verdict::changed;
  // With a change in between it is unknown which file the name leads to now.
  if (passage.known->changes == passage.changes) remember_file(*passage.known, name, facts, fd);
  return Verdict::holds;
}

void PathGuard::remember_file(KnownDirectory& known, std::string_view name, const FileFacts& facts, UniqueFd* fd) {
  if (const auto found = known.files.find(name); found != known.files.end()) {
    KnownFile& file = *found->second;
    const bool unchanged = file.facts.same_version(facts);
    file.facts = facts;
    file.last_used = ++clock_;
    if (unchanged && fd != nullptr && file.descriptor == nullptr) {
      make_room_for(held_files_, most_held_files);
      file.descriptor = std::make_shared<HeldDescriptor>(std::move(*fd), root_->count());
      held_files_.push_back(found->second);
    }
    return;
  }
  if (file_count_ >= most_files) {
    for (const auto& [path, directory] : known_) forget_files(*directory);
  }
  auto file = std::make_shared<KnownFile>();
  file->name = name;
  file->facts = facts;
  known.files.emplace(file->name, file);
  ++file_count_;
}

void PathGuard::forget_file(KnownDirectory& known, std::string_view name) {
  const auto found = known.files.find(name);
  if (found == known.files.end()) return;
  const std::shared_ptr<KnownFile> file = found->second;
  file->alive = false;
  if (file->descriptor != nullptr) {
    file->descriptor.reset();
    held_files_.erase(std::find(held_files_.begin(), held_files_.end(), file));
  }
  known.files.erase(found);
  --file_count_;
}

void PathGuard::forget_files(KnownDirectory& known) {
  while (!known.files.empty()) forget_file(known, known.files.begin()->first);
}

Result<bool> PathGuard::is_closed(int directory) const {
  if (!rules_.closed_identities.empty()) {
    const auto place = place_of(directory);
    if (!place) return place.failure();
    for (const auto& [device, inode] : rules_.closed_identities) {
      if (place->device == device && place->inode == inode) return true;
    }
  }
  for (const std::string& name : rules_.closed_shape) {
    const auto found = syscalls::statx_at(directory, name.c_str(), STATX_TYPE);
    if (found.failed_with(ENOENT)) return false;
    if (!found) return found.failure();
  }
  return !rules_.closed_shape.empty();
}

Status PathGuard::refuse_closed_entry(int directory, const char* name) const {
  const auto entry = open_from(directory, *root_, name, O_PATH | O_NOFOLLOW);
  if (entry.failed_with(ENOENT)) return Done{};
  if (!entry) return entry.failure();
  const auto facts = syscalls::statx_fd(entry->get(), STATX_TYPE);
  if (!facts) return facts.failure();
  if (!S_ISDIR(facts->stx_mode)) return Done{};
  const auto closed = is_closed(entry->get());
  if (!closed) return closed.failure();
  if (closed.value()) return Failure::refused(Refusal::closed_directory);
  return Done{};
}

Result<std::shared_ptr<HeldDescriptor>> PathGuard::open_directory(int from, const char* name) const {
  auto fd = open_from(from, *root_, name, O_PATH | O_DIRECTORY);
  if (!fd) return fd.failure();
  return std::make_shared<HeldDescriptor>(fd.take(), root_->count());
}

Result<Passage> PathGuard::walk_unwatched(std::string_view directory) {
  Passage passage;
  passage.directory = root_;
  Status status = Done{};
  std::size_t start = 0;
  each_prefix(directory, [&](std::string_view prefix) {
    if (prefix.empty()) return false;
    auto next = open_directory(passage.fd(), std::string(prefix.substr(start)).c_str());
    if (!next) {
      status = next.failure();
      return false;
    }
    const auto closed = is_closed(next.value()->fd());
    if (!closed) status = closed.failure();
    if (closed && closed.value()) status = Failure::refused(Refusal::closed_directory);
    passage.directory = next.take();
    passage.unwatched.push_back(passage.directory);
    start = prefix.size() + 1;
    return status.ok();
  });
  if (!status) return status.failure();
  return passage;
}

Result<Passage> PathGuard::walk(std::string_view directory, std::string_view name) {
  Known known;
  {
    const std::lock_guard lock(watch_->mutex);
    watch_->drain();
    known = root_entry();
  }
  if (known == nullptr) return walk_unwatched(directory);

  std::shared_ptr<HeldDescriptor> held = root_;
  std::size_t start = 0;
  bool unwatchable = false;
  std::optional<Result<Passage>> answer;
  each_prefix(directory, [&](std::string_view prefix) {
    if (prefix.empty()) return false;
    const std::string component(prefix.substr(start));
    start = prefix.size() + 1;
    {
      const std::lock_guard lock(watch_->mutex);
      if (const Known next = find(prefix); next != nullptr && next->verified && next->descriptor != nullptr) {
        known = next;
        held = next->descriptor;
        return true;
      }
    }
    auto opened = open_directory(held->fd(), component.c_str());
    if (!opened) {
      answer = opened.failure();
      return false;
    }
    const auto place = place_of(opened.value()->fd());
    if (!place) {
      answer = place.failure();
      return false;
    }
    // Another mount's file system may not report changes.
    if (place->mount != root_->place().mount || place->device != root_->place().device) {
      unwatchable = true;
      return false;
    }
    held = opened.take();
    {
      const std::lock_guard lock(watch_->mutex);
      if (!known->alive) {
        answer = kept_changing;
        return false;
      }
      Known next = find(prefix);
      if (next != nullptr && next->place != place.value()) {
        erase(next.get());
        next = nullptr;
      }
      if (next == nullptr) {
        auto remembered = remember(std::string(prefix), place.value(), held->fd(), known.get());
        if (remembered.failed_with(EAGAIN)) answer = kept_changing;
        // No watches left, most likely: directories without one are examined at every use.
        unwatchable = !remembered.ok();
        if (unwatchable) return false;
        next = remembered.take();
      }
      known = next;
      if (known->verified) return true;
    }
    // Only now, when every later change is going to be reported.
    const auto closed = is_closed(held->fd());
    const std::lock_guard lock(watch_->mutex);
    if (!closed || closed.value()) {
      if (known->alive) erase(known.get());
      answer = closed ? Failure::refused(Refusal::closed_directory) : closed.failure();
      return false;
    }
    watch_->drain();
    if (!known->alive) {
      answer = kept_changing;
      return false;
    }
    known->verified = true;
    return true;
  });
  if (answer.has_value()) return *answer;
  if (unwatchable) return walk_unwatched(directory);

  const std::lock_guard lock(watch_->mutex);
  if (!known->alive) return kept_changing;
  known->last_used = ++clock_;
  if (known->descriptor == nullptr) hold(known, std::move(held));
  return passage_through(known, name);
}

Passage PathGuard::passage_through(const Known& known, std::string_view name) {
  Passage passage;
  passage.directory = known->descriptor;
  passage.known = known;
  passage.changes = known->changes;
  if (const auto found = known->files.find(name); found != known->files.end()) {
    passage.file = found->second;
    passage.facts = passage.file->facts;
    passage.descriptor = passage.file->descriptor;
    passage.file->last_used = known->last_used;
  }
  return passage;
}

PathGuard::Known PathGuard::find(std::string_view path) const {
  const auto found = known_.find(path);
  return found == known_.end() ? nullptr : found->second;
}

PathGuard::Known PathGuard::root_entry() {
  if (Known known = find({}); known != nullptr) return known;
  auto known = remember({}, root_->place(), root_->fd(), nullptr);
  if (!known) return nullptr;
  known.value()->descriptor = root_;
  known.value()->verified = true;
  return known.take();
}

Result<PathGuard::Known> PathGuard::remember(std::string path, const Place& place, int directory,
                                             KnownDirectory* parent) {
  if (known_.size() >= most_known) make_room();
  const auto watch = watch_->add(directory, this);
  if (!watch) return watch.failure();
  // The same directory under another path: it was moved, and the report of it is still to come.
  if (const auto other = by_watch_.find(watch.value()); other != by_watch_.end()) erase(other->second);
  if (parent != nullptr && !parent->alive) {
    watch_->remove(watch.value(), this);
    return kept_changing;
  }
  auto known = std::make_shared<KnownDirectory>();
  known->path = std::move(path);
  known->place = place;
  known->watch = watch.value();
  known->parent = parent;
  known->last_used = ++clock_;
  if (parent != nullptr) parent->children.push_back(known.get());
  by_watch_.emplace(known->watch, known.get());
  known_.emplace(known->path, known);
  return known;
}

void PathGuard::erase(KnownDirectory* known) {
  while (!known->children.empty()) {
    KnownDirectory* leaf = known->children.back();
    while (!leaf->children.empty()) leaf = leaf->children.back();
    erase_leaf(leaf);
  }
  erase_leaf(known);
}

void PathGuard::erase_leaf(KnownDirectory* known) {
  if (known->parent != nullptr) {
    auto& siblings = known->parent->children;
    siblings.erase(std::find(siblings.begin(), siblings.end(), known));
  }
  known->alive = false;
  known->verified = false;
  forget_files(*known);
  known->parent = nullptr;
  known->descriptor.reset();
  held_.erase(std::remove_if(held_.begin(), held_.end(), [&](const Known& held) { return held.get() == known; }),
              held_.end());
  by_watch_.erase(known->watch);
  watch_->remove(known->watch, this);
  // Last, as it may delete the object.
  known_.erase(known->path);
}

void PathGuard::hold(const Known& known, std::shared_ptr<HeldDescriptor> descriptor) {
  if (known->descriptor == nullptr) {
    make_room_for(held_, most_held);
    held_.push_back(known);
  }
  known->descriptor = std::move(descriptor);
}

void PathGuard::make_room() {
  // Directories without known children only, so that nothing hot goes with a parent that is only passed through. A
  // quarter at a time spreads the cost of the search.
  std::vector<KnownDirectory*> leaves;
  for (const auto& [path, known] : known_) {
    if (known->children.empty() && known->parent != nullptr) leaves.push_back(known.get());
  }
  const std::size_t count = std::min(leaves.size(), most_known / 4);
  std::partial_sort(leaves.begin(), leaves.begin() + static_cast<std::ptrdiff_t>(count), leaves.end(),
                    [](const KnownDirectory* a, const KnownDirectory* b) { return a->last_used < b->last_used; });
  for (std::size_t index = 0; index < count; ++index) erase(leaves[index]);
}

void PathGuard::entry_changed(int watch, std::string_view name, bool appeared) {
  const auto found = by_watch_.find(watch);
  if (found == by_watch_.end()) return;
  KnownDirectory* known = found->second;
  const bool is_root = known->parent == nullptr;
  // Who may enter has changed: looked up anew, the kernel decides again.
  if (name.empty()) {
    erase(known);
    return;
  }
  // What a directory loses cannot close it; of what it gets, only names of the closed shape can.
  if (appeared && !is_root &&
      std::find(rules_.closed_shape.begin(), rules_.closed_shape.end(), name) != rules_.closed_shape.end()) {
    erase(known);
    return;
  }
  ++known->changes;
  forget_file(*known, name);
  std::string path = known->path;
  if (!is_root) path += '/';
  path += name;
  if (const Known child = find(path); child != nullptr) erase(child.get());
}

void PathGuard::directory_gone(int watch) {
  const auto found = by_watch_.find(watch);
  if (found != by_watch_.end()) erase(found->second);
}

void PathGuard::everything_lost() { forget_everything(); }

void PathGuard::forget_everything() {
  while (!by_watch_.empty()) erase(by_watch_.begin()->second);
}

}  // namespace workspace_authority
