#pragma once

#include <node_api.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "held_descriptor.h"
#include "path_guard.h"
#include "result.h"

namespace workspace_authority {

struct ListRequest {
  std::string path;
  std::string root_path;
  /** Only names that sort after it; empty for all. */
  std::string after;
  std::size_t limit = 0;
};

/** NativeListing of binding.ts, column by column. */
struct Listing {
  std::string names;
  std::vector<std::uint8_t> types;
  std::vector<std::uint8_t> links;
  std::vector<std::uint8_t> closed;
  std::vector<double> sizes;
  std::vector<std::int64_t> modified_ns;
  std::vector<std::uint32_t> modes;
  bool more = false;
};

/** Pool threads only. `guard` may be null. */
Result<Listing> list_directory(const HeldDirectory& root, const ListRequest& request, PathGuard* guard);

napi_value to_javascript(napi_env env, Listing& listing);

}  // namespace workspace_authority
