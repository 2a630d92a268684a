// What a PathGuard remembers of directories and files, and what a report of the watch makes it forget. Every function
// here is called with the mutex of the watch held.
#include <algorithm>
#include <cerrno>

#include "path_guard.h"

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

constexpr Failure kept_changing{EAGAIN, nullptr, Refusal::none};

}  // namespace

Passage PathGuard::passage_through(const Known& known, std::string_view name) {
  Passage passage;
  passage.directory = known->descriptor;
  passage.known = known;
  passage.changes = known->changes;
  if (const auto found = known->files.find(name); found != known->files.end()) {
    passage.file = found->second;
    passage.facts = passage.file->facts;
    passage.descriptor = passage.file->descriptor;
    if (passage.descriptor != nullptr) {
      passage.file->last_used = ++clock_;
      held_files_.splice(held_files_.end(), held_files_, passage.file->held_at);
    }
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
    if (held_.size() >= most_held) {
      const auto oldest = std::min_element(held_.begin(), held_.end(),
                                           [](const auto& a, const auto& b) { return a->last_used < b->last_used; });
      (*oldest)->descriptor.reset();
      held_.erase(oldest);
    }
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

void PathGuard::remember_file(KnownDirectory& known, std::string_view name, const FileFacts& facts, UniqueFd* fd) {
  if (const auto found = known.files.find(name); found != known.files.end()) {
    KnownFile& file = *found->second;
    const bool unchanged = file.facts.same_version(facts);
    const std::uint64_t used_before = file.last_used;
    file.facts = facts;
    file.last_used = ++clock_;
    if (unchanged && fd != nullptr && file.descriptor == nullptr) keep_open(found->second, used_before, *fd);
    return;
  }
  if (file_count_ >= most_files) {
    for (const auto& [path, directory] : known_) forget_files(*directory);
  }
  auto file = std::make_shared<KnownFile>();
  file->name = name;
  file->facts = facts;
  file->last_used = ++clock_;
  known.files.emplace(file->name, file);
  ++file_count_;
}

void PathGuard::keep_open(const std::shared_ptr<KnownFile>& file, std::uint64_t used_before, UniqueFd& fd) {
  if (held_files_.size() >= most_held_files) {
    const auto oldest = held_files_.front();
    // Whoever reads many files in turn would otherwise open and close one for every read, and find none of them open.
    if (oldest->last_used > used_before) return;
    oldest->descriptor.reset();
    held_files_.pop_front();
  }
  file->descriptor = std::make_shared<HeldDescriptor>(std::move(fd), root_->count());
  file->held_at = held_files_.insert(held_files_.end(), file);
}

void PathGuard::forget_file(KnownDirectory& known, std::string_view name) {
  const auto found = known.files.find(name);
  if (found == known.files.end()) return;
  const std::shared_ptr<KnownFile> file = found->second;
  file->alive = false;
  if (file->descriptor != nullptr) {
    file->descriptor.reset();
    held_files_.erase(file->held_at);
  }
  known.files.erase(found);
  --file_count_;
}

void PathGuard::forget_files(KnownDirectory& known) {
  while (!known.files.empty()) forget_file(known, known.files.begin()->first);
}

}  // namespace workspace_authority
