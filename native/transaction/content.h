#pragma once

#include <string_view>

#include "result.h"

namespace workspace_authority {

/** Whether the file holds exactly these bytes and ends there. */
Result<bool> holds_exactly(int fd, std::string_view bytes);

/** Writes all bytes from position 0. */
Status write_whole(int fd, std::string_view bytes);

}  // namespace workspace_authority
