#include <sys/stat.h>

#include <cerrno>
#include <string>
#include <utility>

#include "arguments.h"
#include "async_work.h"
#include "directory_handle.h"
#include "errors.h"
#include "identity.h"
#include "links.h"
#include "listing.h"
#include "regular_file.h"
#include "resolve.h"
#include "syscalls.h"
#include "values.h"

namespace workspace_authority {
namespace {

const Failure handle_closed = Failure::refused(Refusal::handle_closed);

/**
 * Facts of an entry of any type, without opening it for reading. Cached only: EAGAIN on a foreign file system, where
 * memory may hold what was true once.
 */
Result<struct statx> entry_facts(int directory, const HeldDirectory& root, const char* path, Lookup lookup) {
  constexpr unsigned wanted = STATX_BASIC_STATS | STATX_BTIME;
  if (lookup == Lookup::may_block) {
    const auto entry = open_from(directory, root, path, O_PATH | O_NOFOLLOW);
    return entry ? syscalls::statx_fd(entry->get(), wanted) : entry.failure();
  }
  const auto entry = probe_from(directory, root, path, O_NOFOLLOW);
  if (!entry) return entry.failure();
  if (entry->file_system == FileSystem::foreign) return Failure{EAGAIN, "statx"};
  return syscalls::statx_fd(entry->fd.get(), wanted, syscalls::Freshness::remembered);
}

napi_value facts_cached(napi_env env, napi_callback_info info) {
  MethodCall<DirectoryHandle, 3> call;
  if (!call.read(env, info)) return nullptr;
  if (call.self->held == nullptr) return throw_failure(env, handle_closed);
  arguments::PathBuffer buffer;
  const auto path = arguments::read_path(env, call.arguments[0], arguments::DotPath::allow, buffer);
  if (!path) return throw_failure(env, path.failure());
  const auto slots = arguments::read_facts(env, call.arguments[1]);
  if (!slots) return throw_failure(env, slots.failure());
  const HeldDirectory& root = *call.self->held;
  const auto facts = entry_facts(root.fd(), root, buffer.bytes, Lookup::cached_only);
  // EINVAL: a kernel before 5.12 does not know RESOLVE_CACHED.
  if (facts.failed_with(EAGAIN) || facts.failed_with(EINVAL)) return values::boolean(env, false);
  // Left out, it is undefined, which is no boolean.
  bool expects_absence = false;
  static_cast<void>(napi_get_value_bool(env, call.arguments[2], &expects_absence));
  if (expects_absence && (facts.failed_with(ENOENT) || facts.failed_with(ENOTDIR))) return values::null(env);
  if (!facts) return throw_failure(env, facts.failure());
  FileFacts::of(facts.value()).copy_to(slots.value());
  return values::boolean(env, true);
}

const char* type_name(std::uint32_t mode) {
  if (S_ISREG(mode)) return "file";
  if (S_ISDIR(mode)) return "directory";
  return S_ISLNK(mode) ? "symlink" : "other";
}

napi_value entry_object(napi_env env, struct statx& facts) {
  napi_value entry = values::object(env);
  if (entry == nullptr) return nullptr;
  values::set(env, entry, "type", values::text(env, type_name(facts.stx_mode)));
  values::set(env, entry, "size", values::number(env, static_cast<double>(facts.stx_size)));
  values::set(env, entry, "modifiedNs", values::bigint(env, nanoseconds(facts.stx_mtime)));
  values::set(env, entry, "changedNs", values::bigint(env, nanoseconds(facts.stx_ctime)));
  values::set(env, entry, "mode", values::number(env, facts.stx_mode));
  values::set(env, entry, "inode", values::bigint(env, std::uint64_t{facts.stx_ino}));
  values::set(env, entry, "device", values::bigint(env, device_of(facts)));
  values::set(env, entry, "linkCount", values::number(env, facts.stx_nlink));
  return entry;
}

napi_value stat_entry(napi_env env, napi_callback_info info) {
  MethodCall<DirectoryHandle, 2> call;
  if (!call.read(env, info)) return reject_pending(env);
  if (call.self->held == nullptr) return reject_failure(env, handle_closed);
  auto path = arguments::read_path(env, call.arguments[0], arguments::DotPath::allow);
  if (!path) return reject_failure(env, path.failure());
  auto guard = share_guard(env, call.arguments[1], *call.self->held);
  if (!guard) return reject_failure(env, guard.failure());
  auto execute = [path = path.take(), held = call.self->held, guard = guard.take()]() -> Result<struct statx> {
    if (guard == nullptr || path == ".") return entry_facts(held->fd(), *held, path.c_str(), Lookup::may_block);
    const SplitPath split = split_path(path);
    const std::string name(split.name);
    return guard->use(split.directory, [&](const Passage& passage) -> Result<struct statx> {
      if (auto open = guard->refuse_closed_entry(passage.fd(), name.c_str()); !open) return open.failure();
      return entry_facts(passage.fd(), *held, name.c_str(), Lookup::may_block);
    });
  };
  return run_on_pool(env, std::move(execute), entry_object);
}

Result<ListRequest> read_list_request(napi_env env, napi_value path_value, napi_value options) {
  ListRequest request;
  auto path = arguments::read_path(env, path_value, arguments::DotPath::allow);
  if (!path) return path.failure();
  request.path = path.take();
  auto root_path = arguments::read_absolute_path(env, arguments::property(env, options, "rootPath"));
  if (!root_path) return root_path.failure();
  request.root_path = root_path.take();
  const auto limit = arguments::read_count(env, arguments::property(env, options, "limit"));
  if (!limit) return limit.failure();
  request.limit = static_cast<std::size_t>(limit.value());
  napi_value after = arguments::property(env, options, "after");
  if (after != nullptr && !arguments::is_nullish(env, after)) {
    const auto bytes = arguments::read_bytes(env, after);
    if (!bytes) return bytes.failure();
    request.after.assign(reinterpret_cast<const char*>(bytes->data), bytes->size);
  }
  return request;
}

napi_value list_entries(napi_env env, napi_callback_info info) {
  MethodCall<DirectoryHandle, 3> call;
  if (!call.read(env, info)) return reject_pending(env);
  // Taken first: an accessor of the options is JavaScript, which may close the handle.
  auto held = call.self->held;
  if (held == nullptr) return reject_failure(env, handle_closed);
  auto request = read_list_request(env, call.arguments[0], call.arguments[1]);
  if (!request) return reject_failure(env, request.failure());
  auto guard = share_guard(env, call.arguments[2], *held);
  if (!guard) return reject_failure(env, guard.failure());
  auto execute = [request = request.take(), held = std::move(held), guard = guard.take()]() {
    return list_directory(*held, request, guard.get());
  };
  return run_on_pool(env, std::move(execute), to_javascript);
}

napi_value resolve_links(napi_env env, napi_callback_info info) {
  MethodCall<DirectoryHandle, 2> call;
  if (!call.read(env, info)) return reject_pending(env);
  if (call.self->held == nullptr) return reject_failure(env, handle_closed);
  auto path = arguments::read_path(env, call.arguments[0], arguments::DotPath::allow);
  if (!path) return reject_failure(env, path.failure());
  auto root_path = arguments::read_absolute_path(env, call.arguments[1]);
  if (!root_path) return reject_failure(env, root_path.failure());
  auto execute = [path = path.take(), root_path = root_path.take(), held = call.self->held]() {
    return follow_links(*held, root_path, held->fd(), {}, path);
  };
  return run_on_pool(env, std::move(execute), [](napi_env result_env, std::string& canonical) {
    const std::string_view bytes = canonical.empty() ? std::string_view(".") : std::string_view(canonical);
    return values::bytes(result_env, bytes.data(), bytes.size());
  });
}

}  // namespace

std::vector<napi_property_descriptor> query_methods() {
  return {method("stat", stat_entry), method("factsCached", facts_cached), method("list", list_entries),
          method("resolveLinks", resolve_links)};
}

}  // namespace workspace_authority
