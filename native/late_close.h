#pragma once

#include "unique_fd.h"

namespace workspace_authority {

/**
 * Closing the last descriptor of a file without names frees its blocks, which takes ext4 about a tenth of a commit. On
 * a writer thread, that can wait until the answer is on its way.
 */
void close_late(UniqueFd fd);

/** Closes what this thread put off. */
void close_late_ones();

}  // namespace workspace_authority
