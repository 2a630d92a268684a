#pragma once

#include <string>
#include <vector>

#include "result.h"
#include "transaction/inode.h"
#include "transaction/slot.h"

namespace workspace_authority {

/**
 * renameat2(2), believing the names where it fails: a network file system may have done what it reports as failed.
 * `moving` is the inode behind `from`.
 */
Status move_name(int from_directory, const char* from, int to_directory, const char* to, unsigned flags,
                 const Inode& moving);

/**
 * Unlinks `name` while it is a non-directory with this inode. False: it is another, or gone, and nothing was done.
 * Linux cannot unlink by descriptor, so the check and the call are two steps; the names are unguessable instead.
 */
Result<bool> unlink_if(int directory, const char* name, const Inode& inode);

/**
 * Sets a file that is not ours to delete aside: `.tmp` at the end of its temporary name becomes `.kept` (`.kept-1`,
 * ...), never over an existing name. The names that remain: one, or none when nothing stands under the temporary name.
 */
std::vector<std::string> keep_aside(const Slot& slot, const std::string& temporary_name);

}  // namespace workspace_authority
