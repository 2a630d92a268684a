#include "raw_openat2.h"

#ifdef WITH_FAULTS

#include <cerrno>
#include <string>

#include "arguments.h"
#include "directory_handle.h"
#include "errors.h"
#include "syscalls.h"
#include "values.h"

namespace workspace_authority {
namespace {

constexpr std::size_t head_size = 64;

struct RawRequest {
  int directory = -1;
  std::string path;
  std::uint64_t flags = 0;
  std::uint64_t mode = 0;
  std::uint64_t resolve = 0;
};

Result<RawRequest> read_request(napi_env env, const napi_value* given) {
  RawRequest request;
  const auto* directory = unwrap_argument<DirectoryHandle>(env, given[0]);
  if (directory == nullptr || directory->held == nullptr) return Failure{EINVAL, nullptr, Refusal::none};
  request.directory = directory->held->fd();
  // The kernel's own answer to any bytes is what is asked for here, so nothing is refused before the call.
  const auto path = arguments::read_bytes(env, given[1]);
  if (!path) return path.failure();
  request.path.assign(reinterpret_cast<const char*>(path->data), path->size);
  std::uint64_t* const numbers[] = {&request.flags, &request.mode, &request.resolve};
  for (std::size_t index = 0; index < 3; ++index) {
    const auto number = arguments::read_count(env, given[2 + index]);
    if (!number) return number.failure();
    *numbers[index] = number.value();
  }
  return request;
}

}  // namespace

napi_value raw_openat2(napi_env env, napi_callback_info info) {
  std::size_t count = 5;
  napi_value given[5] = {};
  napi_get_cb_info(env, info, &count, given, nullptr, nullptr);
  const auto request = read_request(env, given);
  if (!request) return throw_failure(env, request.failure());
  const auto fd =
      syscalls::openat2(request->directory, request->path.c_str(), request->flags, request->mode, request->resolve);
  if (!fd) return throw_failure(env, fd.failure());
  const auto facts = syscalls::statx_fd(fd->get(), STATX_BASIC_STATS);
  if (!facts) return throw_failure(env, facts.failure());
  napi_value head = values::null(env);
  const bool readable = (request->flags & O_PATH) == 0 && (request->flags & O_ACCMODE) != O_WRONLY;
  if (readable && S_ISREG(facts->stx_mode)) {
    char bytes[head_size];
    const auto length = syscalls::pread(fd->get(), bytes, sizeof bytes, 0);
    if (!length) return throw_failure(env, length.failure());
    head = values::bytes(env, bytes, length.value());
  }
  napi_value result = values::object(env);
  values::set(env, result, "mode", values::number(env, facts->stx_mode));
  values::set(env, result, "linkCount", values::number(env, facts->stx_nlink));
  values::set(env, result, "inode", values::bigint(env, std::uint64_t{facts->stx_ino}));
  values::set(env, result, "head", head);
  return result;
}

}  // namespace workspace_authority

#endif
