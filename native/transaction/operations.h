#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "held_descriptor.h"
#include "transaction/base_version.h"
#include "transaction/outcome.h"
#include "transaction/slot.h"

/**
 * The write transactions, one verb a file; their contracts are in binding.ts. All run on writer threads (they wait for
 * the disk and rely on blocked signals), and leave the name with old or new content as a whole wherever they are cut
 * off.
 */
namespace workspace_authority {

Outcome replace_file(const Target& target, const BaseRequest& base, const std::string& bytes,
                     const std::string& temporary_name);
Outcome create_file(const Target& target, const std::string& bytes, mode_t mode, const std::string& temporary_name);
Outcome remove_file(const Target& target, const BaseRequest& base, const std::string& temporary_name);
Outcome rename_no_replace(const Target& from, const Target& to);
Outcome make_directory(const Target& target, mode_t mode);
Outcome remove_directory(const Target& target);
/** Committed when unlinked; conflict when the name was another inode, a directory, or gone. */
Outcome unlink_if_same(const Target& target, const Inode& inode);
Outcome exchange_names(const Target& target, const std::string& other_name);

/** Failed names the call that this file system or these permissions do not allow. */
Outcome probe_exchange(const HeldDirectory& root);

}  // namespace workspace_authority
