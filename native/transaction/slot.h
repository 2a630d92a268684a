#pragma once

#include <string>
#include <utility>

#include "held_descriptor.h"
#include "path_guard.h"
#include "resolve.h"
#include "result.h"
#include "transaction/inode.h"
#include "transaction/outcome.h"

namespace workspace_authority {

/** Where a transaction acts. */
struct Target {
  const HeldDirectory& root;
  std::string path;
  /** May be null. */
  PathGuard* guard;
};

/** A name about to be changed: its parent directory, held and proven open, and the path that led there. */
class Slot {
 public:
  /** `target` must outlive the slot. WA_CLOSED_DIRECTORY also when the name itself is that of a closed directory. */
  static Result<Slot> open(const Target& target);

  [[nodiscard]] int directory() const { return parent_.directory.get(); }
  [[nodiscard]] const char* name() const { return parent_.name.c_str(); }
  [[nodiscard]] bool same_directory_as(const Slot& other) const { return inode_ == other.inode_; }

  /**
   * Walks the path again from the root: WA_PARENT_MOVED when it no longer leads to the held directory, and the guard's
   * refusal when that (or what the name leads to) is closed by now. The kernel cannot tie this to the rename that
   * follows, so it is asked before and after.
   */
  [[nodiscard]] Status still_stands() const;

  /** Ends a transaction that has changed the name: the outcome once that is durable, else a failure "in place". */
  [[nodiscard]] Outcome made_durable(Outcome outcome) const;
  /** Ends one that has undone its change. Should this fail, a crash leaves what recovery can tell apart. */
  void sync_quietly() const;

 private:
  Slot(const Target& target, Parent parent, const Inode& inode)
      : target_(&target), parent_(std::move(parent)), inode_(inode) {}

  const Target* target_;
  Parent parent_;
  Inode inode_;
};

}  // namespace workspace_authority
