#pragma once

#include <sys/stat.h>

#include <functional>
#include <string>
#include <utility>

#include "result.h"
#include "transaction/inode.h"
#include "transaction/outcome.h"
#include "transaction/slot.h"
#include "unique_fd.h"

namespace workspace_authority {

/** The new file: first without a name or under its temporary name beside the target. */
class TemporaryFile {
 public:
  /**
   * An empty file without a name (O_TMPFILE): a transaction killed before `publish` leaves nothing, nobody else can
   * reach the file, and ext4 journals less. EOPNOTSUPP where the file system, or what stands before it, has no such
   * files.
   */
  static Result<TemporaryFile> create_unnamed(const Slot& slot, std::string name, mode_t mode);
  /** An empty file under its name (O_EXCL). The umask and a default access list apply to `mode`. */
  static Result<TemporaryFile> create_named(const Slot& slot, std::string name, mode_t mode);

  [[nodiscard]] int fd() const { return fd_.get(); }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const struct statx& facts() const { return facts_; }
  [[nodiscard]] Inode inode() const { return Inode::of(facts_); }

  /** Gives an unnamed file its name. EOPNOTSUPP where that is not allowed, so that it must be named from the start. */
  [[nodiscard]] Status publish(const Slot& slot) const;
  /** Gives the file the slot's own name instead, unless something stands there: EEXIST. EOPNOTSUPP as for `publish`. */
  [[nodiscard]] Status take_name(const Slot& slot) const;

  /** Ends a transaction that has changed nothing: removes the file, or names it as kept when that fails. */
  [[nodiscard]] Outcome abandon(const Slot& slot, Outcome outcome) const;

 private:
  TemporaryFile(UniqueFd fd, std::string name, const struct statx& facts, bool named)
      : fd_(std::move(fd)), name_(std::move(name)), facts_(facts), named_(named) {}

  static Result<TemporaryFile> of(UniqueFd fd, std::string name, bool named);
  [[nodiscard]] Status link_as(const Slot& slot, const char* name) const;
  /** Whether the file has the name, whatever a call has answered. */
  [[nodiscard]] bool has_name(const Slot& slot, const char* name) const;

  UniqueFd fd_;
  std::string name_;
  struct statx facts_;
  bool named_;
};

/**
 * Runs one attempt with an unnamed file and, where nothing but that stood against it, another with a named one. A file
 * that could not be created is the outcome.
 */
Outcome with_temporary_file(const Slot& slot, const std::string& name, mode_t mode,
                            const std::function<Outcome(TemporaryFile)>& attempt);

}  // namespace workspace_authority
