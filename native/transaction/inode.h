#pragma once

#include <fcntl.h>
#include <sys/stat.h>

#include <cstdint>

#include "identity.h"

namespace workspace_authority {

/** All that a transaction asks of statx(2). */
constexpr unsigned transaction_facts = STATX_BASIC_STATS | STATX_BTIME;

/**
 * Device and inode number. Sufficient only while somebody holds the inode open: ext4 gives a freed number to the very
 * next file. Every transaction holds what it compares.
 */
struct Inode {
  std::uint64_t device = 0;
  std::uint64_t number = 0;

  static Inode of(const struct statx& facts) { return {device_of(facts), facts.stx_ino}; }
  friend bool operator==(const Inode& left, const Inode& right) {
    return left.device == right.device && left.number == right.number;
  }
  friend bool operator!=(const Inode& left, const Inode& right) { return !(left == right); }
};

}  // namespace workspace_authority
