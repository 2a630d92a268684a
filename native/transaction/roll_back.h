#pragma once

#include <string>
#include <vector>

#include "result.h"
#include "transaction/inode.h"
#include "transaction/slot.h"

namespace workspace_authority {

struct RolledBack {
  /** Foreign content (or nothing, where the name was deleted) stands under the name again. */
  bool restored = false;
  std::vector<std::string> kept;
  /** Why not, when not restored. */
  Failure failure;
};

/**
 * Undoes an exchange that displaced something unexpected, which now stands under `temporary_name`, while others go on
 * renaming over the target. `ours` is the new file's inode.
 *
 * One exchange back is not enough: when somebody has put a newer version under the name meanwhile, that one comes out,
 * and must go back in. So exchanges go on until what comes out is what we put in the time before; then the newest
 * foreign version stands under the name. When that is our own file, it is deleted. When it is foreign, somebody
 * superseded it while we held it displaced: whether they had seen it cannot be known, so it is kept.
 */
RolledBack roll_back(const Slot& slot, const std::string& temporary_name, const Inode& ours);

}  // namespace workspace_authority
