#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "handle.h"
#include "held_descriptor.h"
#include "path_guard.h"

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

/** PathGuard of binding.ts. `guard` is null once closed. */
class PathGuardHandle final : public Handle {
 public:
  static constexpr const char* class_name = "PathGuard";
  static constexpr napi_type_tag type_tag{0x1b8e6a4df0c94e35ULL, 0xa7725f9e3c0d1846ULL};

  PathGuardHandle(Environment& environment, std::shared_ptr<PathGuard> path_guard)
      : Handle(environment), guard(std::move(path_guard)) {}

  void close() override { guard.reset(); }

  std::shared_ptr<PathGuard> guard;
};

/** Reads an argument `PathGuard | null` of the methods of a directory; fails for anything else and for a closed guard.
 */
Result<std::shared_ptr<PathGuard>> read_guard(napi_env env, napi_value value);

/** Methods of DirectoryHandle, except the write transactions. */
std::vector<napi_property_descriptor> directory_methods();

napi_value open_root(napi_env env, napi_callback_info info);

}  // namespace workspace_authority
