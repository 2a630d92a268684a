#include "arguments.h"

#include <cerrno>
#include <cmath>
#include <cstring>
#include <vector>

#include "file_facts.h"

namespace workspace_authority::arguments {
namespace {

constexpr Failure invalid{EINVAL, nullptr, Refusal::none};
constexpr Failure too_long{ENAMETOOLONG, nullptr, Refusal::none};

/** Whether the string holds a surrogate without its partner, which UTF-8 cannot carry. */
bool has_lone_surrogate(napi_env env, napi_value value) {
  std::size_t length = 0;
  napi_get_value_string_utf16(env, value, nullptr, 0, &length);
  std::vector<char16_t> units(length + 1);
  napi_get_value_string_utf16(env, value, units.data(), units.size(), &length);
  for (std::size_t index = 0; index < length; ++index) {
    const bool leads = (units[index] & 0xFC00) == 0xD800;
    const bool trails = (units[index] & 0xFC00) == 0xDC00;
    if (trails) return true;
    if (!leads) continue;
    if (index + 1 == length || (units[index + 1] & 0xFC00) != 0xDC00) return true;
    ++index;
  }
  return false;
}

Result<std::string_view> read_text(napi_env env, napi_value value, PathBuffer& buffer) {
  std::size_t length = 0;
  if (napi_get_value_string_utf8(env, value, buffer.bytes, sizeof buffer.bytes, &length) == napi_ok) {
    // N-API writes U+FFFD for a lone surrogate. A name may hold a real U+FFFD, so only then look closer.
    const bool replaced = ::memmem(buffer.bytes, length, "\xEF\xBF\xBD", 3) != nullptr;
    if (replaced && has_lone_surrogate(env, value)) return invalid;
  } else {
    const auto bytes = read_bytes(env, value);
    if (!bytes) return invalid;
    length = bytes->size;
    if (length > longest_path) return too_long;
    if (length > 0) std::memcpy(buffer.bytes, bytes->data, length);
    buffer.bytes[length] = '\0';
  }
  if (length > longest_path) return too_long;
  if (std::memchr(buffer.bytes, '\0', length) != nullptr) return invalid;
  return std::string_view(buffer.bytes, length);
}

bool is_plain_component(std::string_view component) {
  return !component.empty() && component != "." && component != "..";
}

bool has_plain_components(std::string_view path) {
  while (true) {
    const std::size_t slash = path.find('/');
    if (!is_plain_component(path.substr(0, slash))) return false;
    if (slash == std::string_view::npos) return true;
    path.remove_prefix(slash + 1);
  }
}

}  // namespace

Result<std::string_view> read_path(napi_env env, napi_value value, DotPath dot, PathBuffer& buffer) {
  auto text = read_text(env, value, buffer);
  if (!text) return text;
  if (text.value() == "." && dot == DotPath::allow) return text;
  if (!has_plain_components(text.value())) return invalid;
  return text;
}

Result<std::string> read_path(napi_env env, napi_value value, DotPath dot) {
  PathBuffer buffer;
  const auto path = read_path(env, value, dot, buffer);
  if (!path) return path.failure();
  return std::string(path.value());
}

Result<std::string> read_absolute_path(napi_env env, napi_value value) {
  PathBuffer buffer;
  const auto path = read_text(env, value, buffer);
  if (!path) return path.failure();
  if (path->empty() || path->front() != '/') return invalid;
  if (path->size() > 1 && !has_plain_components(path->substr(1))) return invalid;
  return std::string(path.value());
}

Result<std::string> read_name(napi_env env, napi_value value) {
  PathBuffer buffer;
  const auto name = read_text(env, value, buffer);
  if (!name) return name.failure();
  if (!is_plain_component(name.value()) || name->find('/') != std::string_view::npos) return invalid;
  if (name->size() > 255) return too_long;
  return std::string(name.value());
}

Result<Bytes> read_bytes(napi_env env, napi_value value) {
  napi_typedarray_type type{};
  std::size_t length = 0;
  void* data = nullptr;
  if (napi_get_typedarray_info(env, value, &type, &length, &data, nullptr, nullptr) != napi_ok ||
      type != napi_uint8_array) {
    return invalid;
  }
  return Bytes{static_cast<std::uint8_t*>(data), length};
}

Result<std::int64_t*> read_facts(napi_env env, napi_value value) {
  napi_typedarray_type type{};
  std::size_t length = 0;
  void* data = nullptr;
  if (napi_get_typedarray_info(env, value, &type, &length, &data, nullptr, nullptr) != napi_ok ||
      type != napi_bigint64_array || length < FileFacts::count) {
    return invalid;
  }
  return static_cast<std::int64_t*>(data);
}

Result<std::uint64_t> read_count(napi_env env, napi_value value) {
  double number = 0;
  if (napi_get_value_double(env, value, &number) != napi_ok) return invalid;
  constexpr double largest_safe_integer = 9007199254740991.0;
  if (!(number >= 0 && number <= largest_safe_integer) || number != std::floor(number)) return invalid;
  return static_cast<std::uint64_t>(number);
}

Result<std::uint64_t> read_bigint(napi_env env, napi_value value) {
  std::uint64_t number = 0;
  bool lossless = false;
  if (napi_get_value_bigint_uint64(env, value, &number, &lossless) != napi_ok || !lossless) return invalid;
  return number;
}

Result<bool> read_boolean(napi_env env, napi_value value) {
  bool answer = false;
  if (napi_get_value_bool(env, value, &answer) != napi_ok) return invalid;
  return answer;
}

bool is_nullish(napi_env env, napi_value value) {
  napi_valuetype type{};
  return napi_typeof(env, value, &type) == napi_ok && (type == napi_null || type == napi_undefined);
}

napi_value property(napi_env env, napi_value object, const char* name) {
  napi_value value = nullptr;
  if (napi_get_named_property(env, object, name, &value) == napi_ok) return value;
  napi_value ignored = nullptr;
  napi_get_and_clear_last_exception(env, &ignored);
  return nullptr;
}

}  // namespace workspace_authority::arguments
