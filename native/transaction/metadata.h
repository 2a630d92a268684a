#pragma once

#include <sys/stat.h>

#include <map>
#include <string>

#include "result.h"

namespace workspace_authority {

/**
 * What a new file takes over from the one that it replaces: owner, group, permission bits, extended attributes and
 * access list (which is an attribute).
 *
 * Not part of it: set-id bits and security.capability, which would lend another program's content the same powers;
 * security.ima and security.evm, which are sums of the old content. Nor are inode flags (chattr(1)), project quota ids
 * and times.
 */
class Metadata {
 public:
  /** WA_METADATA (with the errno) when an attribute cannot be read. */
  static Result<Metadata> read(int fd);

  /**
   * Gives an own new file this metadata, and takes away what the directory's default access list gave it beyond that.
   * WA_METADATA (with the errno) when a part cannot be carried over.
   */
  [[nodiscard]] Status apply_to(int fd, const struct statx& facts) const;

  friend bool operator==(const Metadata& left, const Metadata& right) {
    return left.owner_ == right.owner_ && left.group_ == right.group_ && left.mode_ == right.mode_ &&
           left.attributes_ == right.attributes_;
  }

 private:
  [[nodiscard]] Status apply_attributes(int fd) const;

  uid_t owner_ = 0;
  gid_t group_ = 0;
  mode_t mode_ = 0;
  std::map<std::string, std::string> attributes_;
};

}  // namespace workspace_authority
