#include "kernel_report.h"

#include <cerrno>

#include "errors.h"
#include "kernel_abi.h"
#include "syscalls.h"
#include "values.h"

namespace workspace_authority {
namespace {

// The root directory: nobody can be refused a look at its name, so EPERM here comes from a filter on the call.
Result<UniqueFd> ask_openat2(std::uint64_t resolve) {
  return syscalls::openat2(AT_FDCWD, "/", O_PATH | O_DIRECTORY, 0, kernel::resolve_no_magiclinks | resolve);
}

bool gives_unique_mount_id(int fd) {
  const auto facts = syscalls::statx_fd(fd, kernel::statx_mnt_id_unique);
  return facts && (facts->stx_mask & kernel::statx_mnt_id_unique) != 0;
}

/** Whether the flag is known; whether a file system has identifiers is asked of each. */
bool knows_file_identifiers(int fd) {
  const auto handle = syscalls::name_to_handle_at(fd, kernel::at_handle_fid);
  return handle.ok() || handle.failed_with(EOPNOTSUPP) || handle.failed_with(EOVERFLOW);
}

}  // namespace

napi_value probe(napi_env env, napi_callback_info) {
  const auto root = ask_openat2(0);
  const auto cached = ask_openat2(kernel::resolve_cached);
  napi_value openat2 = values::object(env);
  values::set(env, openat2, "available", values::boolean(env, root.ok()));
  values::set(env, openat2, "code",
              root.ok() ? values::null(env) : values::text(env, errno_name(root.failure().error)));
  napi_value report = values::object(env);
  values::set(env, report, "openat2", openat2);
  values::set(env, report, "resolveCached", values::boolean(env, cached.ok() || cached.failed_with(EAGAIN)));
  values::set(env, report, "uniqueMountId", values::boolean(env, root.ok() && gives_unique_mount_id(root->get())));
  values::set(env, report, "fileIdentifierHandles",
              values::boolean(env, root.ok() && knows_file_identifiers(root->get())));
  values::set(env, report, "inotify", values::boolean(env, syscalls::inotify_init().ok()));
  return report;
}

}  // namespace workspace_authority
