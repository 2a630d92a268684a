#pragma once

#include <string>
#include <string_view>

#include "held_descriptor.h"
#include "result.h"

namespace workspace_authority {

/**
 * Follows symbolic links by reading them, component after component, and never lets the kernel follow one. `start` is
 * an open directory beneath `root` whose canonical path is `start_path` (empty for the root); `path` is walked from
 * there. `root_path` is the absolute path under which absolute targets count as inside. Returns the canonical path
 * beneath the root, empty for the root itself. EXDEV: leads outside, or through a magic link of procfs. ELOOP: more
 * than 40 links, or links are not to be followed on that mount. Pool threads only.
 */
Result<std::string> follow_links(const HeldDirectory& root, std::string_view root_path, int start,
                                 std::string_view start_path, std::string_view path);

}  // namespace workspace_authority
