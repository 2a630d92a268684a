#include <napi.h>

#include <vector>

#include "directory_handle.h"
#include "environment.h"
#include "handle.h"

namespace workspace_authority {
namespace {

napi_value open_handles(napi_env env, napi_callback_info) {
  napi_value count = nullptr;
  napi_create_int64(env, Environment::of(env).descriptor_count()->load(), &count);
  return count;
}

void append(std::vector<napi_property_descriptor>& to, const std::vector<napi_property_descriptor>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

/** The addon's table of contents: classes with their methods, then functions. */
napi_value initialize(napi_env env, napi_value exports) {
  Environment::create(env);

  std::vector<napi_property_descriptor> directory;
  append(directory, directory_methods());
  define_class<DirectoryHandle>(env, directory);

  const std::vector<napi_property_descriptor> functions{
      method("openRoot", open_root),
      method("openHandles", open_handles),
  };
  napi_define_properties(env, exports, functions.size(), functions.data());
  return exports;
}

}  // namespace
}  // namespace workspace_authority

NAPI_MODULE_INIT() { return workspace_authority::initialize(env, exports); }
