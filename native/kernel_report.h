#pragma once

#include <node_api.h>

namespace workspace_authority {

/** `probe` of NativeBinding. */
napi_value probe(napi_env env, napi_callback_info info);

}  // namespace workspace_authority
