#include "lease.h"

#include <fcntl.h>

#include <cerrno>
#include <cstdint>
#include <string>

#include "arguments.h"
#include "async_work.h"
#include "directory_handle.h"
#include "errors.h"
#include "resolve.h"
#include "syscalls.h"
#include "values.h"

namespace workspace_authority {
namespace {

constexpr std::uint64_t slot_limit = std::uint64_t{1} << 48;

Result<std::uint64_t> read_slot(napi_env env, const LeaseHandle& lease, napi_value value) {
  if (lease.file == nullptr) return Failure::refused(Refusal::handle_closed);
  auto slot = arguments::read_count(env, value);
  if (slot && slot.value() >= slot_limit) return Failure{EINVAL};
  return slot;
}

/** A deleted lock file excludes nobody: the next opener locks a new one. */
Status still_named(int fd) {
  const auto facts = syscalls::statx_fd(fd, STATX_NLINK);
  if (!facts) return facts.failure();
  if (facts->stx_nlink == 0) return Failure{ESTALE, "statx"};
  return Done{};
}

napi_value try_acquire(napi_env env, napi_callback_info info) {
  MethodCall<LeaseHandle, 1> call;
  if (!call.read(env, info)) return nullptr;
  const auto slot = read_slot(env, *call.self, call.arguments[0]);
  if (!slot) return throw_failure(env, slot.failure());
  const int fd = call.self->file->fd();
  const Status locked = syscalls::lock_byte(fd, F_WRLCK, slot.value());
  if (locked.failed_with(EAGAIN) || locked.failed_with(EACCES)) return values::boolean(env, false);
  if (!locked) return throw_failure(env, locked.failure());
  const Status named = still_named(fd);
  if (named) return values::boolean(env, true);
  static_cast<void>(syscalls::lock_byte(fd, F_UNLCK, slot.value()));
  return throw_failure(env, named.failure());
}

napi_value release(napi_env env, napi_callback_info info) {
  MethodCall<LeaseHandle, 1> call;
  if (!call.read(env, info)) return nullptr;
  // Closing has released everything.
  if (call.self->file == nullptr) return nullptr;
  const auto slot = read_slot(env, *call.self, call.arguments[0]);
  if (!slot) return throw_failure(env, slot.failure());
  const Status unlocked = syscalls::lock_byte(call.self->file->fd(), F_UNLCK, slot.value());
  return unlocked ? nullptr : throw_failure(env, unlocked.failure());
}

napi_value close_lease(napi_env env, napi_callback_info info) {
  MethodCall<LeaseHandle, 0> call;
  if (call.read(env, info)) call.self->close();
  return nullptr;
}

napi_value lease_instance(napi_env env, std::unique_ptr<HeldDescriptor>& file) {
  return make_instance(env, std::make_unique<LeaseHandle>(Environment::of(env), std::move(file)));
}

}  // namespace

std::vector<napi_property_descriptor> lease_methods() {
  return {method("tryAcquire", try_acquire), method("release", release), method("close", close_lease)};
}

napi_value open_lease(napi_env env, napi_callback_info info) {
  MethodCall<DirectoryHandle, 1> call;
  if (!call.read(env, info)) return reject_pending(env);
  if (call.self->held == nullptr) return reject_failure(env, Failure::refused(Refusal::handle_closed));
  auto name = arguments::read_name(env, call.arguments[0]);
  if (!name) return reject_failure(env, name.failure());
  auto execute = [root = call.self->held, name = name.take()]() -> Result<std::unique_ptr<HeldDescriptor>> {
    // Opened for writing, since only such a descriptor takes a write lock. O_NONBLOCK for a FIFO under the name.
    auto fd = open_beneath(*root, name.c_str(), O_RDWR | O_CREAT | O_NONBLOCK | O_NOCTTY, Lookup::may_block, 0600);
    if (!fd) return fd.failure();
    const auto facts = syscalls::statx_fd(fd->get(), STATX_TYPE);
    if (!facts) return facts.failure();
    if (!S_ISREG(facts->stx_mode)) return Failure::refused(Refusal::not_regular);
    return std::make_unique<HeldDescriptor>(fd.take(), root->count());
  };
  return run_on_pool(env, std::move(execute), lease_instance);
}

}  // namespace workspace_authority
