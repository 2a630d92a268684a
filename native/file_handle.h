#pragma once

#include <node_api.h>

#include <memory>
#include <utility>
#include <vector>

#include "handle.h"
#include "held_descriptor.h"

namespace workspace_authority {

/** FileHandle of binding.ts. `held` is null once closed. */
class FileHandle final : public Handle {
 public:
  static constexpr const char* class_name = "FileHandle";
  static constexpr napi_type_tag type_tag{0x83f1b0d62c9a47e5ULL, 0xb4e96a1d57f08c23ULL};

  FileHandle(Environment& environment, std::shared_ptr<HeldDescriptor> file)
      : Handle(environment), held(std::move(file)) {}

  void close() override { held.reset(); }

  std::shared_ptr<HeldDescriptor> held;
};

std::vector<napi_property_descriptor> file_methods();

}  // namespace workspace_authority
