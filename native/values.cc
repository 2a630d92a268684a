#include "values.h"

namespace workspace_authority::values {
namespace {

std::size_t element_size(napi_typedarray_type type) {
  switch (type) {
    case napi_uint32_array: return 4;
    case napi_float64_array:
    case napi_bigint64_array: return 8;
    default: return 1;
  }
}

}  // namespace

napi_value null(napi_env env) {
  napi_value value = nullptr;
  napi_get_null(env, &value);
  return value;
}

napi_value undefined(napi_env env) {
  napi_value value = nullptr;
  napi_get_undefined(env, &value);
  return value;
}

napi_value boolean(napi_env env, bool value) {
  napi_value result = nullptr;
  napi_get_boolean(env, value, &result);
  return result;
}

napi_value number(napi_env env, double value) {
  napi_value result = nullptr;
  napi_create_double(env, value, &result);
  return result;
}

napi_value bigint(napi_env env, std::uint64_t value) {
  napi_value result = nullptr;
  napi_create_bigint_uint64(env, value, &result);
  return result;
}

napi_value bigint(napi_env env, std::int64_t value) {
  napi_value result = nullptr;
  napi_create_bigint_int64(env, value, &result);
  return result;
}

napi_value text(napi_env env, std::string_view utf8) {
  napi_value result = nullptr;
  napi_create_string_utf8(env, utf8.data(), utf8.size(), &result);
  return result;
}

napi_value object(napi_env env) {
  napi_value result = nullptr;
  napi_create_object(env, &result);
  return result;
}

void set(napi_env env, napi_value object, const char* name, napi_value value) {
  napi_set_named_property(env, object, name, value);
}

napi_value bytes(napi_env env, const void* data, std::size_t size) {
  napi_value result = nullptr;
  napi_create_buffer_copy(env, size, data, nullptr, &result);
  return result;
}

napi_value typed_array(napi_env env, napi_typedarray_type type, std::size_t length, void** data) {
  napi_value memory = nullptr;
  napi_value result = nullptr;
  if (napi_create_arraybuffer(env, length * element_size(type), data, &memory) != napi_ok) return nullptr;
  napi_create_typedarray(env, type, length, memory, 0, &result);
  return result;
}

napi_value identity(napi_env env, const Identity& identity) {
  napi_value result = object(env);
  if (result == nullptr) return nullptr;
  set(env, result, "device", bigint(env, identity.device));
  set(env, result, "inode", bigint(env, identity.inode));
  set(env, result, "mountId", bigint(env, identity.mount_id));
  set(env, result, "mountIdUnique", boolean(env, identity.mount_id_unique));
  set(env, result, "fileSystemId", bigint(env, identity.file_system_id));
  napi_value handle = null(env);
  if (identity.handle.has_value()) {
    handle = object(env);
    set(env, handle, "type", number(env, identity.handle->type));
    set(env, handle, "bytes", bytes(env, identity.handle->bytes, identity.handle->size));
  }
  set(env, result, "handle", handle);
  set(env, result, "birthTimeNs",
      identity.birth_time_ns.has_value() ? bigint(env, *identity.birth_time_ns) : null(env));
  set(env, result, "mode", number(env, identity.mode));
  set(env, result, "uid", number(env, identity.uid));
  set(env, result, "gid", number(env, identity.gid));
  set(env, result, "linkCount", number(env, identity.link_count));
  return result;
}

}  // namespace workspace_authority::values
