#pragma once

#include <sys/stat.h>

#include "result.h"

namespace workspace_authority {

/**
 * Gives the new file owner, group, permission bits, extended attributes and access list of the old one, and takes away
 * what the directory's default access list gave it beyond that. WA_METADATA (with the errno) when one of them cannot be
 * carried over.
 *
 * Never carried over: set-id bits and security.capability, which would lend another program's content the same powers;
 * security.ima and security.evm, which are sums of the old content. Inode flags (chattr(1)), project quota ids and
 * times are not metadata in this sense.
 */
Status carry_metadata(int from, const struct statx& from_facts, int to, const struct statx& to_facts);

/** Whether owner, group and carried permission bits are the same. */
bool same_ownership(const struct statx& left, const struct statx& right);

}  // namespace workspace_authority
