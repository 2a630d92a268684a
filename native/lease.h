#pragma once

#include <memory>
#include <utility>

#include "handle.h"
#include "held_descriptor.h"

namespace workspace_authority {

/** LeaseHandle of binding.ts. `file` is null once closed. */
class LeaseHandle final : public Handle {
 public:
  static constexpr const char* class_name = "LeaseHandle";
  static constexpr napi_type_tag type_tag{0x8e21c64b7d9f4a03ULL, 0xb5d6490e1f8a7c32ULL};

  LeaseHandle(Environment& environment, std::unique_ptr<HeldDescriptor> lock_file)
      : Handle(environment), file(std::move(lock_file)) {}

  void close() override { file.reset(); }

  std::unique_ptr<HeldDescriptor> file;
};

/** Methods of LeaseHandle. */
std::vector<napi_property_descriptor> lease_methods();

/** `openLease` of DirectoryHandle. */
napi_value open_lease(napi_env env, napi_callback_info info);

}  // namespace workspace_authority
