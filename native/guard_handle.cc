#include "guard_handle.h"

#include <cerrno>
#include <string>
#include <utility>

#include "arguments.h"
#include "async_work.h"
#include "directory_handle.h"
#include "errors.h"
#include "resolve.h"

namespace workspace_authority {
namespace {

constexpr Failure invalid{EINVAL, nullptr, Refusal::none};

napi_value close_guard(napi_env env, napi_callback_info info) {
  MethodCall<PathGuardHandle, 0> call;
  if (call.read(env, info)) call.self->close();
  return nullptr;
}

napi_value check(napi_env env, napi_callback_info info) {
  MethodCall<PathGuardHandle, 1> call;
  if (!call.read(env, info)) return reject_pending(env);
  if (call.self->guard == nullptr) return reject_failure(env, Failure::refused(Refusal::handle_closed));
  auto path = arguments::read_path(env, call.arguments[0], arguments::DotPath::allow);
  if (!path) return reject_failure(env, path.failure());
  auto execute = [path = path.take(), guard = call.self->guard]() -> Status {
    if (path == ".") return Done{};
    const SplitPath split = split_path(path);
    return guard->use(split.directory, [&](const Passage& passage) {
      return guard->refuse_closed_entry(passage.fd(), std::string(split.name).c_str());
    });
  };
  return run_on_pool(env, std::move(execute), to_undefined);
}

/** Calls `take(element) -> Status` for each element of an array. */
template <typename Take>
Status each_element(napi_env env, napi_value array, Take take) {
  std::uint32_t length = 0;
  if (array == nullptr || napi_get_array_length(env, array, &length) != napi_ok) return invalid;
  for (std::uint32_t index = 0; index < length; ++index) {
    napi_value element = nullptr;
    if (napi_get_element(env, array, index, &element) != napi_ok) return invalid;
    if (const Status taken = take(element); !taken) return taken;
  }
  return Done{};
}

Result<GuardRules> read_rules(napi_env env, napi_value value) {
  GuardRules rules;
  const auto names =
      each_element(env, arguments::property(env, value, "closedShape"), [&](napi_value element) -> Status {
        auto name = arguments::read_name(env, element);
        if (!name) return name.failure();
        rules.closed_shape.push_back(name.take());
        return Done{};
      });
  if (!names) return names.failure();
  const auto identities =
      each_element(env, arguments::property(env, value, "closedIdentities"), [&](napi_value element) -> Status {
        napi_value device_value = arguments::property(env, element, "device");
        napi_value inode_value = arguments::property(env, element, "inode");
        if (device_value == nullptr || inode_value == nullptr) return invalid;
        const auto device = arguments::read_bigint(env, device_value);
        if (!device) return device.failure();
        const auto inode = arguments::read_bigint(env, inode_value);
        if (!inode) return inode.failure();
        rules.closed_identities.emplace_back(device.value(), inode.value());
        return Done{};
      });
  if (!identities) return identities.failure();
  return rules;
}

}  // namespace

Result<std::shared_ptr<PathGuard>> share_guard(napi_env env, napi_value value, const HeldDirectory& root) {
  if (arguments::is_nullish(env, value)) return std::shared_ptr<PathGuard>();
  const auto* handle = unwrap_argument<PathGuardHandle>(env, value);
  if (handle == nullptr) return invalid;
  if (handle->guard == nullptr) return Failure::refused(Refusal::handle_closed);
  if (&handle->guard->root() != &root) return invalid;
  return handle->guard;
}

Result<PathGuard*> borrow_guard(napi_env env, napi_value value, const HeldDirectory& root) {
  if (arguments::is_nullish(env, value)) return static_cast<PathGuard*>(nullptr);
  const auto* handle = static_cast<PathGuardHandle*>(handles::recognise(env, value, PathGuardHandle::type_tag));
  if (handle == nullptr) return invalid;
  if (handle->guard == nullptr) return Failure::refused(Refusal::handle_closed);
  if (&handle->guard->root() != &root) return invalid;
  return handle->guard.get();
}

std::vector<napi_property_descriptor> guard_methods() { return {method("check", check), method("close", close_guard)}; }

napi_value create_guard(napi_env env, napi_callback_info info) {
  std::size_t count = 2;
  napi_value given[2] = {};
  napi_get_cb_info(env, info, &count, given, nullptr, nullptr);
  const auto* directory = unwrap_argument<DirectoryHandle>(env, given[0]);
  if (directory == nullptr) return throw_failure(env, invalid);
  // Taken first: an accessor of the rules is JavaScript, which may close the handle.
  auto root = directory->held;
  if (root == nullptr) return throw_failure(env, Failure::refused(Refusal::handle_closed));
  auto rules = read_rules(env, given[1]);
  if (!rules) return throw_failure(env, rules.failure());
  Environment& environment = Environment::of(env);
  auto guard = std::make_shared<PathGuard>(std::move(root), rules.take(), environment.directory_watch());
  return make_instance(env, std::make_unique<PathGuardHandle>(environment, std::move(guard)));
}

}  // namespace workspace_authority
