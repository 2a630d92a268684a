#pragma once

#include <node_api.h>

#include <memory>
#include <utility>
#include <vector>

#include "handle.h"
#include "held_descriptor.h"
#include "path_guard.h"
#include "result.h"

namespace workspace_authority {

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

/**
 * Reads an argument `PathGuard | null` of a method of the directory `root`, to keep. EINVAL for anything else and for a
 * guard of another directory, WA_HANDLE_CLOSED for a closed one.
 */
Result<std::shared_ptr<PathGuard>> share_guard(napi_env env, napi_value value, const HeldDirectory& root);
/** The same, valid only until JavaScript runs again. */
Result<PathGuard*> borrow_guard(napi_env env, napi_value value, const HeldDirectory& root);

/** check, close. */
std::vector<napi_property_descriptor> guard_methods();

/** `createGuard` of NativeBinding. */
napi_value create_guard(napi_env env, napi_callback_info info);

}  // namespace workspace_authority
