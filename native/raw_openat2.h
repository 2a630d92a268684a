#pragma once

#include <node_api.h>

namespace workspace_authority {

#ifdef WITH_FAULTS
/** `rawOpenat2` of TestBinding. */
napi_value raw_openat2(napi_env env, napi_callback_info info);
#endif

}  // namespace workspace_authority
