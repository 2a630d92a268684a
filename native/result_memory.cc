#include "result_memory.h"

#include <cstring>

#include "environment.h"
#include "syscalls.h"

namespace workspace_authority {
namespace {

constexpr std::size_t block_size = std::size_t{128} * 1024;
constexpr std::size_t alignment = 8;

napi_value make_block(napi_env env, napi_ref source) {
  napi_value block = nullptr;
  if (source == nullptr) {
    void* data = nullptr;
    napi_create_buffer(env, block_size, &data, &block);
    return block;
  }
  napi_value function = nullptr;
  napi_value receiver = nullptr;
  napi_get_reference_value(env, source, &function);
  napi_get_undefined(env, &receiver);
  napi_call_function(env, receiver, function, 0, nullptr, &block);
  return block;
}

}  // namespace

void ResultMemory::use_source(napi_env env, napi_value source) {
  if (source_ != nullptr) napi_delete_reference(env, source_);
  napi_create_reference(env, source, 1, &source_);
}

char* ResultMemory::reserve(napi_env env, std::size_t size) {
  memory_ = nullptr;
  if (block_ != nullptr) napi_get_reference_value(env, block_, &memory_);
  void* data = nullptr;
  std::size_t length = 0;
  // Asked each time: a block that was transferred to another thread has no memory any more.
  if (memory_ != nullptr) napi_get_arraybuffer_info(env, memory_, &data, &length);
  data_ = static_cast<char*>(data);
  size_ = length;
  if (used_ + size > size_ && !renew(env)) return nullptr;
  reserved_ = size;
  return data_ + used_;
}

bool ResultMemory::renew(napi_env env) {
  napi_value block = make_block(env, source_);
  napi_typedarray_type type{};
  std::size_t length = 0;
  std::size_t offset = 0;
  void* data = nullptr;
  if (block == nullptr || napi_get_typedarray_info(env, block, &type, &length, &data, &memory_, &offset) != napi_ok ||
      type != napi_uint8_array || offset != 0 || length <= largest) {
    napi_throw_error(env, "ENOMEM", "ENOMEM");
    return false;
  }
  if (block_ != nullptr) napi_delete_reference(env, block_);
  napi_create_reference(env, memory_, 1, &block_);
  data_ = static_cast<char*>(data);
  size_ = length;
  used_ = 0;
  syscalls::populate(data, length);
  return true;
}

napi_value ResultMemory::commit(napi_env env, std::size_t size) {
  napi_value result = nullptr;
  if (napi_create_typedarray(env, napi_uint8_array, size, memory_, used_, &result) != napi_ok) return nullptr;
  used_ += (size + alignment - 1) / alignment * alignment;
  return result;
}

void ResultMemory::discard() { std::memset(data_ + used_, 0, reserved_); }

napi_value use_blocks_from(napi_env env, napi_callback_info info) {
  std::size_t count = 1;
  napi_value source = nullptr;
  napi_get_cb_info(env, info, &count, &source, nullptr, nullptr);
  napi_valuetype type{};
  if (napi_typeof(env, source, &type) != napi_ok || type != napi_function) {
    napi_throw_type_error(env, "ERR_INVALID_ARG_TYPE", "Illegal invocation");
    return nullptr;
  }
  Environment::of(env).result_memory().use_source(env, source);
  return nullptr;
}

}  // namespace workspace_authority
