#pragma once

#include <node_api.h>

#include <memory>
#include <utility>
#include <vector>

#include "guard_handle.h"
#include "handle.h"
#include "held_descriptor.h"

namespace workspace_authority {

/** DirectoryHandle of binding.ts. `held` is null once closed. */
class DirectoryHandle final : public Handle {
 public:
  static constexpr const char* class_name = "DirectoryHandle";
  static constexpr napi_type_tag type_tag{0x5d0f3c1c2b6e4f7aULL, 0x9c41d7e08ab35621ULL};

  DirectoryHandle(Environment& environment, std::shared_ptr<HeldDirectory> directory)
      : Handle(environment), held(std::move(directory)) {}

  void close() override { held.reset(); }

  std::shared_ptr<HeldDirectory> held;
};

/** close, identity, descriptorPath, leadsHere, openDirectory, openFile. */
std::vector<napi_property_descriptor> directory_methods();
/** stat, factsCached, list, resolveLinks. */
std::vector<napi_property_descriptor> query_methods();

/** `openRoot` of NativeBinding. */
napi_value open_root(napi_env env, napi_callback_info info);

}  // namespace workspace_authority
