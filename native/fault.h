#pragma once

#ifdef WITH_FAULTS

#include <node_api.h>

namespace workspace_authority::faults {

/** Counts, records and lets fail the system calls of the calling thread, which runs nothing but write transactions. */
void watch_this_thread();

/** `setFault` of TestBinding. */
napi_value set_fault(napi_env env, napi_callback_info info);
/** `faultTrace` of TestBinding. */
napi_value fault_trace(napi_env env, napi_callback_info info);

}  // namespace workspace_authority::faults

#endif
