#include "path_guard.h"

#include <sys/sysmacros.h>

#include <cerrno>

#include "kernel_abi.h"
#include "resolve.h"
#include "syscalls.h"

namespace workspace_authority {
namespace {

constexpr Failure kept_changing{EAGAIN, nullptr, Refusal::none};

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
  // Behind a foreign file system, another machine or process changes directories unseen.
  if (root_->file_system() == FileSystem::foreign) return;
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

}  // namespace workspace_authority
