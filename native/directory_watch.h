#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "held_descriptor.h"
#include "result.h"

namespace workspace_authority {

class DirectoryWatch;

/** What a DirectoryWatch tells about; implemented by the path guard's memory. Called with the watch's mutex held. */
class WatchListener {
 public:
  virtual ~WatchListener() = default;
  /**
   * An entry of the directory behind `watch` was created, moved or deleted, or its mode or owner changed. Without a
   * name: the mode or owner of the directory itself changed.
   */
  virtual void entry_changed(int watch, std::string_view name, bool appeared) = 0;
  /** The directory behind `watch` was moved, deleted or unmounted. */
  virtual void directory_gone(int watch) = 0;
  /** Events were lost or mounts changed: nothing that was known is certain. */
  virtual void everything_lost() = 0;
};

/**
 * One inotify(7) instance for all guards of an environment (a user has only 128 of them by default), and a view on the
 * mount table (proc_pid_mountinfo(5)), since inotify says nothing of a mount that covers a directory. Both sit behind
 * one epoll(7), so that asking whether all is quiet costs one cheap call.
 *
 * An event is queued after the change is visible but before the call that made it returns. So a change missed by a
 * drain is one whose call still runs, and whoever uses directories through held descriptors has acted before it.
 */
class DirectoryWatch {
 public:
  /** Fails when the kernel grants no instance, or /proc is not there. */
  static Result<std::shared_ptr<DirectoryWatch>> create(const DescriptorCount& count);

  DirectoryWatch(const DirectoryWatch&) = delete;
  DirectoryWatch& operator=(const DirectoryWatch&) = delete;
  ~DirectoryWatch() = default;

  /** Guards the watch and all memory of its listeners. */
  std::mutex mutex;

  // All below: with the mutex held.

  /** Starts to watch an open directory (O_PATH will do) for `listener`. The same directory gets the same number again.
   */
  Result<int> add(int directory, WatchListener* listener);
  /** Ends one `add`. */
  void remove(int watch, const WatchListener* listener);
  /** From now on the listener hears of everything lost, until it withdraws; it removes its own watches before. */
  void enroll(WatchListener* listener) { listeners_.push_back(listener); }
  void withdraw(WatchListener* listener);
  /** Delivers everything queued so far. */
  void drain();

 private:
  DirectoryWatch(std::unique_ptr<HeldDescriptor> inotify, std::unique_ptr<HeldDescriptor> mounts,
                 std::unique_ptr<HeldDescriptor> poll)
      : inotify_(std::move(inotify)), mounts_(std::move(mounts)), poll_(std::move(poll)) {}

  void drain_inotify();
  void deliver(int watch, std::uint32_t mask, std::string_view name);
  void lose_everything();

  std::unique_ptr<HeldDescriptor> inotify_;
  std::unique_ptr<HeldDescriptor> mounts_;
  std::unique_ptr<HeldDescriptor> poll_;
  std::vector<WatchListener*> listeners_;
  /** Who listens to each watch; a listener appears once per `add`. */
  std::unordered_map<int, std::vector<WatchListener*>> watches_;
};

}  // namespace workspace_authority
