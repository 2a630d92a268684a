#pragma once

#include <node_api.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "result.h"

/**
 * Checked reading of JavaScript arguments. Every function returns EINVAL for a value of another type, so that a wrong
 * shape can never become a wrong pointer; TypeScript is what keeps shapes right.
 */
namespace workspace_authority::arguments {

/** Longest path the kernel takes, without its NUL (PATH_MAX of linux/limits.h). */
constexpr std::size_t longest_path = 4095;

/** Room for one path on the stack; the tail tells a path that is too long from one that just fits. */
struct PathBuffer {
  char bytes[longest_path + 9];
};

enum class DotPath { refuse, allow };

/**
 * A path beneath a handle (see NativePath in binding.ts), NUL-terminated, in `buffer`. EINVAL for an absolute or empty
 * path, an empty, `.` or `..` component, a NUL or a lone surrogate; ENAMETOOLONG. `DotPath::allow` lets `.` alone
 * through.
 */
Result<std::string_view> read_path(napi_env env, napi_value value, DotPath dot, PathBuffer& buffer);
/** The same as an own string, for work that outlives the call. */
Result<std::string> read_path(napi_env env, napi_value value, DotPath dot);
/** An absolute path without `.`, `..` and empty components; `/` alone is allowed. */
Result<std::string> read_absolute_path(napi_env env, napi_value value);
/** One file name of at most 255 bytes: no `/`, not `.` or `..`. */
Result<std::string> read_name(napi_env env, napi_value value);

struct Bytes {
  std::uint8_t* data = nullptr;
  std::size_t size = 0;
};
/** The memory of a Uint8Array; valid while JavaScript cannot run. Copy it before going to another thread. */
Result<Bytes> read_bytes(napi_env env, napi_value value);
/** The eight slots of a `facts` array. */
Result<std::int64_t*> read_facts(napi_env env, napi_value value);
/** A non-negative safe integer given as a number. */
Result<std::uint64_t> read_count(napi_env env, napi_value value);
Result<std::uint64_t> read_bigint(napi_env env, napi_value value);
Result<bool> read_boolean(napi_env env, napi_value value);
bool is_nullish(napi_env env, napi_value value);
/** A named property; undefined where it is missing. Null (with a cleared exception) when `object` is no object. */
napi_value property(napi_env env, napi_value object, const char* name);

}  // namespace workspace_authority::arguments
