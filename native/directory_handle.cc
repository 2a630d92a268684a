#include "directory_handle.h"

#include <cerrno>
#include <string>

#include "arguments.h"
#include "async_work.h"
#include "errors.h"
#include "kernel_abi.h"
#include "resolve.h"
#include "syscalls.h"

namespace workspace_authority {
namespace {

napi_value close_directory(napi_env env, napi_callback_info info) {
  MethodCall<DirectoryHandle, 0> call;
  if (call.read(env, info)) call.self->close();
  return nullptr;
}

napi_value directory_instance(napi_env env, std::shared_ptr<HeldDirectory>& held) {
  return make_instance(env, std::make_unique<DirectoryHandle>(Environment::of(env), std::move(held)));
}

}  // namespace

Result<std::shared_ptr<PathGuard>> read_guard(napi_env env, napi_value value) {
  if (arguments::is_nullish(env, value)) return std::shared_ptr<PathGuard>();
  const auto* handle = unwrap_argument<PathGuardHandle>(env, value);
  if (handle == nullptr) return Failure{EINVAL};
  if (handle->guard == nullptr) return Failure::refused(Refusal::handle_closed);
  return handle->guard;
}

std::vector<napi_property_descriptor> directory_methods() { return {method("close", close_directory)}; }

napi_value open_root(napi_env env, napi_callback_info info) {
  std::size_t count = 2;
  napi_value given[2] = {};
  napi_get_cb_info(env, info, &count, given, nullptr, nullptr);
  auto path = arguments::read_absolute_path(env, given[0]);
  if (!path) return reject_failure(env, path.failure());
  bool allow_mounts = false;
  if (napi_value option = arguments::property(env, given[1], "allowMounts"); option != nullptr) {
    const auto answer = arguments::read_boolean(env, option);
    allow_mounts = answer.ok() && answer.value();
  }
  auto execute = [path = path.take(), allow_mounts,
                  counter = Environment::of(env).descriptor_count()]() -> Result<std::shared_ptr<HeldDirectory>> {
    auto fd = syscalls::openat2(AT_FDCWD, path.c_str(), O_RDONLY | O_DIRECTORY, 0,
                                kernel::resolve_no_symlinks | kernel::resolve_no_magiclinks);
    if (!fd) return fd.failure();
    return std::make_shared<HeldDirectory>(fd.take(), counter, allow_mounts);
  };
  return run_on_pool(env, std::move(execute), directory_instance);
}

}  // namespace workspace_authority
