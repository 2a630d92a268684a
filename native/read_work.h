#pragma once

#include <node_api.h>

#include <vector>

namespace workspace_authority {

/** `readCached` and `read` of DirectoryHandle in binding.ts. */
std::vector<napi_property_descriptor> read_methods();

}  // namespace workspace_authority
