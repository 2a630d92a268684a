#pragma once

#include <node_api.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "identity.h"

/** Making JavaScript values. Null with a pending exception when the engine cannot (out of memory, environment ending).
 */
namespace workspace_authority::values {

napi_value null(napi_env env);
napi_value undefined(napi_env env);
napi_value boolean(napi_env env, bool value);
napi_value number(napi_env env, double value);
napi_value bigint(napi_env env, std::uint64_t value);
napi_value bigint(napi_env env, std::int64_t value);
napi_value text(napi_env env, std::string_view utf8);
napi_value object(napi_env env);
void set(napi_env env, napi_value object, const char* name, napi_value value);

/** A Buffer with a copy of the bytes. */
napi_value bytes(napi_env env, const void* data, std::size_t size);
/** A typed array over fresh zeroed memory, which `*data` points to until JavaScript runs. */
napi_value typed_array(napi_env env, napi_typedarray_type type, std::size_t length, void** data);

napi_value identity(napi_env env, const Identity& identity);

}  // namespace workspace_authority::values
