#pragma once

#include <node_api.h>

#include <vector>

namespace workspace_authority {

/** The methods of DirectoryHandle that change something: arguments in, outcomes out, nothing decided here. */
std::vector<napi_property_descriptor> write_methods();

}  // namespace workspace_authority
