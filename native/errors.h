#pragma once

#include <node_api.h>

#include "result.h"

namespace workspace_authority {

/** `{code, errno, syscall}` as Node's own system errors have them (errno negative, 0 for our refusals). No prose, no
 * paths. */
napi_value make_error(napi_env env, const Failure& failure);
/** Throws the error; returns null so that a method can `return throw_failure(...)`. */
napi_value throw_failure(napi_env env, const Failure& failure);
/** An already rejected promise, for methods that promise. */
napi_value reject_failure(napi_env env, const Failure& failure);
/** Turns the pending exception into a rejected promise. */
napi_value reject_pending(napi_env env);
/** Name of an errno, such as `ENOENT`; `EUNKNOWN` for one without a name here. */
const char* errno_name(int error);

}  // namespace workspace_authority
