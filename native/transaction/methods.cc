#include "transaction/methods.h"

#include <cerrno>
#include <memory>
#include <string>
#include <utility>

#include "arguments.h"
#include "directory_handle.h"
#include "environment.h"
#include "errors.h"
#include "transaction/operations.h"
#include "values.h"
#include "writer_pool.h"

namespace workspace_authority {
namespace {

/** What a transaction works on, shared so that closing the handle or the guard waits for it. */
struct HeldTarget {
  std::shared_ptr<HeldDirectory> root;
  std::shared_ptr<PathGuard> guard;
  std::string path;

  [[nodiscard]] Target target() const { return {*root, path, guard.get()}; }
};

Result<HeldTarget> read_target(napi_env env, const DirectoryHandle& handle, napi_value path, napi_value guard) {
  if (handle.held == nullptr) return Failure::refused(Refusal::handle_closed);
  auto read = arguments::read_path(env, path, arguments::DotPath::refuse);
  if (!read) return read.failure();
  if (guard == nullptr) return HeldTarget{handle.held, nullptr, read.take()};
  auto held_guard = share_guard(env, guard, *handle.held);
  if (!held_guard) return held_guard.failure();
  return HeldTarget{handle.held, held_guard.take(), read.take()};
}

Result<std::string> read_content(napi_env env, napi_value object, const char* name) {
  const auto bytes = arguments::read_bytes(env, arguments::property(env, object, name));
  if (!bytes) return bytes.failure();
  // Copied: JavaScript may change or detach the buffer while the transaction runs.
  return std::string(reinterpret_cast<const char*>(bytes->data), bytes->size);
}

Result<Inode> read_inode(napi_env env, napi_value device, napi_value number) {
  const auto read_device = arguments::read_bigint(env, device);
  if (!read_device) return read_device.failure();
  const auto read_number = arguments::read_bigint(env, number);
  if (!read_number) return read_number.failure();
  return Inode{read_device.value(), read_number.value()};
}

Result<BaseRequest> read_base(napi_env env, napi_value change) {
  auto bytes = read_content(env, change, "baseBytes");
  if (!bytes) return bytes.failure();
  const auto inode =
      read_inode(env, arguments::property(env, change, "baseDevice"), arguments::property(env, change, "baseInode"));
  if (!inode) return inode.failure();
  return BaseRequest{inode.value(), bytes.take()};
}

Result<std::string> read_temporary_name(napi_env env, napi_value change) {
  return arguments::read_name(env, arguments::property(env, change, "temporaryName"));
}

Result<mode_t> read_permissions(napi_env env, napi_value value) {
  const auto mode = arguments::read_count(env, value);
  if (!mode) return mode.failure();
  if (mode.value() > 0777) return Failure{EINVAL};
  return static_cast<mode_t>(mode.value());
}

napi_value kept_names(napi_env env, const std::vector<std::string>& names) {
  napi_value array = nullptr;
  napi_create_array_with_length(env, names.size(), &array);
  for (std::uint32_t index = 0; index < names.size(); ++index) {
    napi_set_element(env, array, index, values::text(env, names[index]));
  }
  return array;
}

napi_value facts_array(napi_env env, const FileFacts& facts) {
  void* slots = nullptr;
  napi_value array = values::typed_array(env, napi_bigint64_array, FileFacts::count, &slots);
  if (array != nullptr) facts.copy_to(static_cast<std::int64_t*>(slots));
  return array;
}

/** The error of a failed transaction; see `NativeWriteError` of binding.ts. */
napi_value throw_failed(napi_env env, const Outcome& outcome) {
  napi_value error = make_error(env, outcome.failure);
  if (outcome.in_place) values::set(env, error, "inPlace", values::boolean(env, true));
  if (!outcome.kept.empty()) values::set(env, error, "kept", kept_names(env, outcome.kept));
  napi_throw(env, error);
  return nullptr;
}

napi_value outcome_object(napi_env env, const char* word) {
  napi_value object = values::object(env);
  values::set(env, object, "outcome", values::text(env, word));
  return object;
}

napi_value replaced(napi_env env, Outcome& outcome) {
  if (outcome.ending == Ending::failed) return throw_failed(env, outcome);
  const bool committed = outcome.ending == Ending::committed;
  napi_value object = outcome_object(env, committed ? "committed" : "conflict");
  if (committed) {
    values::set(env, object, "facts", facts_array(env, outcome.facts));
    values::set(env, object, "leaseChecked", values::boolean(env, outcome.lease_checked));
  }
  values::set(env, object, "kept", kept_names(env, outcome.kept));
  return object;
}

napi_value created(napi_env env, Outcome& outcome) {
  if (outcome.ending == Ending::failed) return throw_failed(env, outcome);
  if (outcome.ending == Ending::exists) return outcome_object(env, "exists");
  napi_value object = outcome_object(env, "created");
  values::set(env, object, "facts", facts_array(env, outcome.facts));
  return object;
}

napi_value removed(napi_env env, Outcome& outcome) {
  if (outcome.ending == Ending::failed) return throw_failed(env, outcome);
  if (outcome.ending == Ending::committed) return outcome_object(env, "removed");
  napi_value object = outcome_object(env, "conflict");
  values::set(env, object, "kept", kept_names(env, outcome.kept));
  return object;
}

napi_value done(napi_env env, Outcome& outcome) {
  return outcome.ending == Ending::failed ? throw_failed(env, outcome) : values::undefined(env);
}

napi_value unlinked(napi_env env, Outcome& outcome) {
  if (outcome.ending == Ending::failed) return throw_failed(env, outcome);
  return values::boolean(env, outcome.ending == Ending::committed);
}

napi_value probed(napi_env env, Outcome& outcome) {
  const bool supported = outcome.ending == Ending::committed;
  napi_value object = values::object(env);
  values::set(env, object, "supported", values::boolean(env, supported));
  values::set(env, object, "syscall", supported ? values::null(env) : values::text(env, outcome.failure.syscall));
  values::set(env, object, "code",
              supported ? values::null(env) : values::text(env, errno_name(outcome.failure.error)));
  return object;
}

template <typename Execute, typename Convert>
napi_value start(napi_env env, Execute execute, Convert convert) {
  return run_on_writers(env, Environment::of(env).writers(env), std::move(execute), convert);
}

napi_value replace(napi_env env, napi_callback_info info) {
  MethodCall<DirectoryHandle, 3> call;
  if (!call.read(env, info)) return reject_pending(env);
  auto held = read_target(env, *call.self, call.arguments[0], call.arguments[2]);
  if (!held) return reject_failure(env, held.failure());
  auto base = read_base(env, call.arguments[1]);
  if (!base) return reject_failure(env, base.failure());
  auto bytes = read_content(env, call.arguments[1], "bytes");
  if (!bytes) return reject_failure(env, bytes.failure());
  auto name = read_temporary_name(env, call.arguments[1]);
  if (!name) return reject_failure(env, name.failure());
  return start(
      env,
      [held = held.take(), base = base.take(), bytes = bytes.take(), name = name.take()] {
        return replace_file(held.target(), base, bytes, name);
      },
      replaced);
}

napi_value create(napi_env env, napi_callback_info info) {
  MethodCall<DirectoryHandle, 3> call;
  if (!call.read(env, info)) return reject_pending(env);
  auto held = read_target(env, *call.self, call.arguments[0], call.arguments[2]);
  if (!held) return reject_failure(env, held.failure());
  auto bytes = read_content(env, call.arguments[1], "bytes");
  if (!bytes) return reject_failure(env, bytes.failure());
  const auto mode = read_permissions(env, arguments::property(env, call.arguments[1], "mode"));
  if (!mode) return reject_failure(env, mode.failure());
  auto name = read_temporary_name(env, call.arguments[1]);
  if (!name) return reject_failure(env, name.failure());
  return start(
      env,
      [held = held.take(), bytes = bytes.take(), mode = mode.value(), name = name.take()] {
        return create_file(held.target(), bytes, mode, name);
      },
      created);
}

napi_value remove(napi_env env, napi_callback_info info) {
  MethodCall<DirectoryHandle, 3> call;
  if (!call.read(env, info)) return reject_pending(env);
  auto held = read_target(env, *call.self, call.arguments[0], call.arguments[2]);
  if (!held) return reject_failure(env, held.failure());
  auto base = read_base(env, call.arguments[1]);
  if (!base) return reject_failure(env, base.failure());
  auto name = read_temporary_name(env, call.arguments[1]);
  if (!name) return reject_failure(env, name.failure());
  return start(
      env,
      [held = held.take(), base = base.take(), name = name.take()] { return remove_file(held.target(), base, name); },
      removed);
}

napi_value rename_no_replace(napi_env env, napi_callback_info info) {
  MethodCall<DirectoryHandle, 3> call;
  if (!call.read(env, info)) return reject_pending(env);
  auto from = read_target(env, *call.self, call.arguments[0], call.arguments[2]);
  if (!from) return reject_failure(env, from.failure());
  auto to = read_target(env, *call.self, call.arguments[1], call.arguments[2]);
  if (!to) return reject_failure(env, to.failure());
  return start(
      env,
      [from = from.take(), to = to.take()] {
        return workspace_authority::rename_no_replace(from.target(), to.target());
      },
      done);
}

napi_value make_directory(napi_env env, napi_callback_info info) {
  MethodCall<DirectoryHandle, 3> call;
  if (!call.read(env, info)) return reject_pending(env);
  auto held = read_target(env, *call.self, call.arguments[0], call.arguments[2]);
  if (!held) return reject_failure(env, held.failure());
  const auto mode = read_permissions(env, call.arguments[1]);
  if (!mode) return reject_failure(env, mode.failure());
  return start(
      env,
      [held = held.take(), mode = mode.value()] { return workspace_authority::make_directory(held.target(), mode); },
      done);
}

napi_value remove_directory(napi_env env, napi_callback_info info) {
  MethodCall<DirectoryHandle, 2> call;
  if (!call.read(env, info)) return reject_pending(env);
  auto held = read_target(env, *call.self, call.arguments[0], call.arguments[1]);
  if (!held) return reject_failure(env, held.failure());
  return start(env, [held = held.take()] { return workspace_authority::remove_directory(held.target()); }, done);
}

napi_value unlink_if_same(napi_env env, napi_callback_info info) {
  MethodCall<DirectoryHandle, 3> call;
  if (!call.read(env, info)) return reject_pending(env);
  auto held = read_target(env, *call.self, call.arguments[0], nullptr);
  if (!held) return reject_failure(env, held.failure());
  const auto inode = read_inode(env, call.arguments[2], call.arguments[1]);
  if (!inode) return reject_failure(env, inode.failure());
  return start(
      env,
      [held = held.take(), inode = inode.value()] { return workspace_authority::unlink_if_same(held.target(), inode); },
      unlinked);
}

napi_value exchange(napi_env env, napi_callback_info info) {
  MethodCall<DirectoryHandle, 2> call;
  if (!call.read(env, info)) return reject_pending(env);
  auto held = read_target(env, *call.self, call.arguments[0], nullptr);
  if (!held) return reject_failure(env, held.failure());
  auto other = arguments::read_name(env, call.arguments[1]);
  if (!other) return reject_failure(env, other.failure());
  return start(env, [held = held.take(), other = other.take()] { return exchange_names(held.target(), other); }, done);
}

napi_value probe(napi_env env, napi_callback_info info) {
  MethodCall<DirectoryHandle, 0> call;
  if (!call.read(env, info)) return reject_pending(env);
  if (call.self->held == nullptr) return reject_failure(env, Failure::refused(Refusal::handle_closed));
  return start(env, [root = call.self->held] { return probe_exchange(*root); }, probed);
}

}  // namespace

std::vector<napi_property_descriptor> write_methods() {
  return {
      method("replace", replace),
      method("create", create),
      method("remove", remove),
      method("renameNoReplace", rename_no_replace),
      method("makeDirectory", make_directory),
      method("removeDirectory", remove_directory),
      method("unlinkIfSame", unlink_if_same),
      method("exchange", exchange),
      method("probeExchange", probe),
  };
}

}  // namespace workspace_authority
