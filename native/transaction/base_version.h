#pragma once

#include <sys/stat.h>

#include <optional>
#include <string>
#include <utility>

#include "result.h"
#include "transaction/inode.h"
#include "transaction/slot.h"
#include "unique_fd.h"

namespace workspace_authority {

/** The version that a change was based on, as the caller read it. */
struct BaseRequest {
  Inode inode;
  std::string bytes;
};

/** The file of the base version, held open, so that its inode number cannot be given to another file. */
class BaseVersion {
 public:
  /**
   * Opens what stands under the slot's name. Nothing when that is missing, another inode or other content.
   * ELOOP for a symbolic link, WA_NOT_REGULAR for anything else that is no regular file; neither is ever opened.
   */
  static Result<std::optional<BaseVersion>> open(const Slot& slot, const BaseRequest& request);

  [[nodiscard]] int fd() const { return fd_.get(); }
  /** Gives up the file; nothing but the destructor may follow. */
  [[nodiscard]] UniqueFd take_fd() { return std::move(fd_); }
  [[nodiscard]] const struct statx& facts() const { return facts_; }

  /** Whether the slot's name still leads to the base with the same content, asked before anything is changed. */
  [[nodiscard]] Result<bool> still_named(const Slot& slot) const;

  /** The inode behind `name`, which was just moved out of the slot, if it is the base: with the same content. */
  [[nodiscard]] Result<std::optional<Inode>> found_at(const Slot& slot, const std::string& name) const;

 private:
  BaseVersion(UniqueFd fd, const struct statx& facts, const std::string& bytes)
      : fd_(std::move(fd)), facts_(facts), bytes_(&bytes) {}

  UniqueFd fd_;
  struct statx facts_;
  const std::string* bytes_;
};

}  // namespace workspace_authority
