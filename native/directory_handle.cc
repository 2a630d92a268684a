#include "directory_handle.h"

#include <unistd.h>

#include <cerrno>
#include <string>

#include "arguments.h"
#include "async_work.h"
#include "errors.h"
#include "file_handle.h"
#include "identity.h"
#include "kernel_abi.h"
#include "read_whole.h"
#include "resolve.h"
#include "syscalls.h"
#include "values.h"

namespace workspace_authority {
namespace {

constexpr std::uint64_t root_resolve = kernel::resolve_no_symlinks | kernel::resolve_no_magiclinks;
const Failure handle_closed = Failure::refused(Refusal::handle_closed);

napi_value directory_instance(napi_env env, std::shared_ptr<HeldDirectory>& held) {
  return make_instance(env, std::make_unique<DirectoryHandle>(Environment::of(env), std::move(held)));
}

napi_value file_instance(napi_env env, std::shared_ptr<HeldDescriptor>& held) {
  return make_instance(env, std::make_unique<FileHandle>(Environment::of(env), std::move(held)));
}

napi_value resolved(napi_env env, napi_value value) {
  napi_deferred deferred = nullptr;
  napi_value promise = nullptr;
  if (value == nullptr || napi_create_promise(env, &deferred, &promise) != napi_ok) return nullptr;
  napi_resolve_deferred(env, deferred, value);
  return promise;
}

/**
 * Opens and holds the directory behind `probe`, an O_PATH descriptor, on the JavaScript thread. Null, with the answer
 * still open, where the thread pool has to try: only a local file system opens a directory without asking anybody.
 */
napi_value hold_now(napi_env env, const UniqueFd& probe, DescriptorCount count, const RootPolicy& policy,
                    FileSystem file_system) {
  if (file_system != FileSystem::local) return nullptr;
  auto fd = syscalls::openat2(probe.get(), ".", O_RDONLY | O_DIRECTORY, 0, root_resolve | kernel::resolve_cached);
  if (!fd) return nullptr;
  auto held = HeldDirectory::hold(fd.take(), std::move(count), policy, file_system);
  return held ? resolved(env, directory_instance(env, held.value())) : nullptr;
}

napi_value close_directory(napi_env env, napi_callback_info info) {
  MethodCall<DirectoryHandle, 0> call;
  if (call.read(env, info)) call.self->close();
  return nullptr;
}

napi_value directory_identity(napi_env env, napi_callback_info info) {
  MethodCall<DirectoryHandle, 0> call;
  if (!call.read(env, info)) return nullptr;
  if (call.self->held == nullptr) return throw_failure(env, handle_closed);
  const auto identity = read_identity(call.self->held->fd());
  if (!identity) return throw_failure(env, identity.failure());
  return values::identity(env, identity.value());
}

napi_value directory_place(napi_env env, napi_callback_info info) {
  MethodCall<DirectoryHandle, 0> call;
  if (!call.read(env, info)) return nullptr;
  if (call.self->held == nullptr) return throw_failure(env, handle_closed);
  const Place& place = call.self->held->place();
  napi_value object = values::object(env);
  values::set(env, object, "device", values::bigint(env, place.device));
  values::set(env, object, "inode", values::bigint(env, place.inode));
  return object;
}

napi_value descriptor_path(napi_env env, napi_callback_info info) {
  MethodCall<DirectoryHandle, 0> call;
  if (!call.read(env, info)) return nullptr;
  if (call.self->held == nullptr) return throw_failure(env, handle_closed);
  return values::text(env, "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(call.self->held->fd()));
}

/** Whether `path` leads to the held directory now. */
Result<bool> leads_to(const HeldDirectory& held, const char* path, std::uint64_t resolve) {
  const auto found = syscalls::openat2(AT_FDCWD, path, O_PATH | O_DIRECTORY, 0, resolve);
  if (!found) {
    // Nothing there, something else there, or a link on the way: not this directory. Other errors do not tell.
    const int error = found.failure().error;
    if (error == ENOENT || error == ENOTDIR || error == ELOOP) return false;
    return found.failure();
  }
  const auto place = place_of(found->get());
  if (!place) return place.failure();
  return place.value() == held.place();
}

napi_value leads_here_cached(napi_env env, napi_callback_info info) {
  MethodCall<DirectoryHandle, 1> call;
  if (!call.read(env, info)) return nullptr;
  if (call.self->held == nullptr) return throw_failure(env, handle_closed);
  const auto path = arguments::read_absolute_path(env, call.arguments[0]);
  if (!path) return throw_failure(env, path.failure());
  if (call.self->held->file_system() == FileSystem::foreign) return nullptr;
  const auto leads = leads_to(*call.self->held, path->c_str(), root_resolve | kernel::resolve_cached);
  // EINVAL: a kernel before 5.12 does not know RESOLVE_CACHED.
  if (leads.failed_with(EAGAIN) || leads.failed_with(EINVAL)) return nullptr;
  if (!leads) return throw_failure(env, leads.failure());
  return values::boolean(env, leads.value());
}

napi_value leads_here(napi_env env, napi_callback_info info) {
  MethodCall<DirectoryHandle, 1> call;
  if (!call.read(env, info)) return reject_pending(env);
  if (call.self->held == nullptr) return reject_failure(env, handle_closed);
  auto path = arguments::read_absolute_path(env, call.arguments[0]);
  if (!path) return reject_failure(env, path.failure());
  return run_on_pool(
      env, [path = path.take(), held = call.self->held]() { return leads_to(*held, path.c_str(), root_resolve); },
      [](napi_env result_env, bool& leads) { return values::boolean(result_env, leads); });
}

napi_value open_directory(napi_env env, napi_callback_info info) {
  MethodCall<DirectoryHandle, 1> call;
  if (!call.read(env, info)) return reject_pending(env);
  if (call.self->held == nullptr) return reject_failure(env, handle_closed);
  auto path = arguments::read_path(env, call.arguments[0], arguments::DotPath::allow);
  if (!path) return reject_failure(env, path.failure());
  const HeldDirectory& root = *call.self->held;
  const auto probe = probe_from(root.fd(), root, path->c_str(), O_DIRECTORY);
  if (probe) {
    napi_value now = hold_now(env, probe->fd, root.count(), root.policy(), probe->file_system);
    if (now != nullptr) return now;
  }
  auto execute = [path = path.take(), held = call.self->held]() -> Result<std::shared_ptr<HeldDirectory>> {
    auto fd = open_beneath(*held, path.c_str(), O_RDONLY | O_DIRECTORY);
    if (!fd) return fd.failure();
    const FileSystem file_system = held->file_system_of(fd->get());
    return HeldDirectory::hold(fd.take(), held->count(), held->policy(), file_system);
  };
  return run_on_pool(env, std::move(execute), directory_instance);
}

napi_value open_file(napi_env env, napi_callback_info info) {
  MethodCall<DirectoryHandle, 2> call;
  if (!call.read(env, info)) return reject_pending(env);
  if (call.self->held == nullptr) return reject_failure(env, handle_closed);
  auto path = arguments::read_path(env, call.arguments[0], arguments::DotPath::refuse);
  if (!path) return reject_failure(env, path.failure());
  auto guard = share_guard(env, call.arguments[1], *call.self->held);
  if (!guard) return reject_failure(env, guard.failure());
  auto execute = [path = path.take(), held = call.self->held,
                  guard = guard.take()]() -> Result<std::shared_ptr<HeldDescriptor>> {
    for (int attempt = 0; attempt < PathGuard::attempts; ++attempt) {
      auto opened = open_guarded(*held, path, guard.get());
      if (!opened) return opened.failure();
      switch (confirm_guarded(opened.value(), guard.get())) {
        case Fill::complete: return std::make_shared<HeldDescriptor>(std::move(opened->file.fd), held->count());
        case Fill::closed: return Failure::refused(Refusal::closed_directory);
        case Fill::changed: break;
      }
    }
    return Failure{EAGAIN, "openat2", Refusal::none};
  };
  return run_on_pool(env, std::move(execute), file_instance);
}

}  // namespace

std::vector<napi_property_descriptor> directory_methods() {
  return {
      method("close", close_directory),
      method("identity", directory_identity),
      method("place", directory_place),
      method("descriptorPath", descriptor_path),
      method("leadsHereCached", leads_here_cached),
      method("leadsHere", leads_here),
      method("openDirectory", open_directory),
      method("openFile", open_file),
  };
}

napi_value open_root(napi_env env, napi_callback_info info) {
  std::size_t count = 2;
  napi_value given[2] = {};
  napi_get_cb_info(env, info, &count, given, nullptr, nullptr);
  auto path = arguments::read_absolute_path(env, given[0]);
  if (!path) return reject_failure(env, path.failure());
  RootPolicy policy{false, Environment::of(env).mounts()};
  if (napi_value option = arguments::property(env, given[1], "allowMounts");
      option != nullptr && !arguments::is_nullish(env, option)) {
    const auto answer = arguments::read_boolean(env, option);
    if (!answer) return reject_failure(env, answer.failure());
    policy.allow_mounts = answer.value();
  }
  const auto probe =
      syscalls::openat2(AT_FDCWD, path->c_str(), O_PATH | O_DIRECTORY, 0, root_resolve | kernel::resolve_cached);
  if (probe) {
    const FileSystem file_system = policy.mounts->file_system_of(probe->get());
    napi_value now = hold_now(env, probe.value(), Environment::of(env).descriptor_count(), policy, file_system);
    if (now != nullptr) return now;
  }
  auto execute = [path = path.take(), policy,
                  counter = Environment::of(env).descriptor_count()]() -> Result<std::shared_ptr<HeldDirectory>> {
    auto fd = syscalls::openat2(AT_FDCWD, path.c_str(), O_RDONLY | O_DIRECTORY, 0, root_resolve);
    if (!fd) return fd.failure();
    return HeldDirectory::hold(fd.take(), counter, policy);
  };
  return run_on_pool(env, std::move(execute), directory_instance);
}

}  // namespace workspace_authority
