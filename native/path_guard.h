#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "held_descriptor.h"
#include "result.h"

namespace workspace_authority {

struct GuardRules {
  std::vector<std::string> closed_shape;
  /** Device (makedev number) and inode. */
  std::vector<std::pair<std::uint64_t, std::uint64_t>> closed_identities;
};

/** Remembers which directories below a root are open to file access; see PathGuard in binding.ts. Safe on every thread.
 */
class PathGuard {
 public:
  PathGuard(std::shared_ptr<HeldDirectory> root, GuardRules rules) : root_(std::move(root)), rules_(std::move(rules)) {}

 private:
  std::shared_ptr<HeldDirectory> root_;
  GuardRules rules_;
};

}  // namespace workspace_authority
