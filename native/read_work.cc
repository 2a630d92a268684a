#include "read_work.h"

#include <cerrno>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "arguments.h"
#include "directory_handle.h"
#include "errors.h"
#include "read_whole.h"
#include "result_memory.h"
#include "syscalls.h"
#include "values.h"

namespace workspace_authority {
namespace {

// Each round means that the file was written to while it was read.
constexpr int attempts = 8;

napi_value read_cached(napi_env env, napi_callback_info info) {
  MethodCall<DirectoryHandle, 5> call;
  if (!call.read_fast(env, info)) return nullptr;
  // First, since a new block may be made by JavaScript, which may close the handle.
  ResultMemory& memory = Environment::of(env).result_memory();
  ReadBuffers buffers;
  buffers.least_size = ResultMemory::largest;
  buffers.least = memory.reserve(env, ResultMemory::largest + 1);
  if (buffers.least == nullptr) return nullptr;
  buffers.scratch = Environment::of(env).scratch(scratch_size);

  if (call.self->held == nullptr) return throw_failure(env, Failure::refused(Refusal::handle_closed));
  arguments::PathBuffer buffer;
  const auto path = arguments::read_path(env, call.arguments[0], arguments::DotPath::refuse, buffer);
  if (!path) return throw_failure(env, path.failure());
  const auto limit = arguments::read_count(env, call.arguments[1]);
  if (!limit) return throw_failure(env, limit.failure());
  const auto slots = arguments::read_facts(env, call.arguments[2]);
  if (!slots) return throw_failure(env, slots.failure());
  const auto guard = borrow_guard(env, call.arguments[3], *call.self->held);
  if (!guard) return throw_failure(env, guard.failure());
  // Left out, it is undefined, which is no boolean.
  bool accepted = false;
  static_cast<void>(napi_get_value_bool(env, call.arguments[4], &accepted));
  const RecentChange recent = accepted ? RecentChange::accepted : RecentChange::unknown;

  FileFacts facts;
  Failure failure;
  const CachedAnswer answer = read_without_waiting(*call.self->held, buffer.bytes, limit.value(), guard.value(), recent,
                                                   buffers, facts, failure);
  const auto size = static_cast<std::size_t>(facts.size);
  if (answer == CachedAnswer::content) {
    facts.copy_to(slots.value());
    return size <= buffers.least_size ? memory.commit(env, size) : values::bytes(env, buffers.scratch, size);
  }
  memory.discard();
  if (answer == CachedAnswer::unknown) return nullptr;
  if (failure.error == EFBIG) facts.copy_to(slots.value());
  return throw_failure(env, failure);
}

/**
 * One `read`. On the pool: open and, for a small file, read. A larger one goes back to the JavaScript thread for the
 * memory of its result, since memory from the pool's heap costs a page fault for every page each time, and is then
 * filled on the pool.
 */
class ReadWork {
 public:
  static napi_value start(napi_env env, napi_callback_info info) {
    MethodCall<DirectoryHandle, 4> call;
    if (!call.read(env, info)) return reject_pending(env);
    auto work = std::unique_ptr<ReadWork>(new ReadWork());
    if (const Status ready = work->prepare(env, call); !ready) return reject_failure(env, ready.failure());
    napi_value promise = nullptr;
    napi_create_promise(env, &work->deferred_, &promise);
    napi_create_reference(env, call.arguments[2], 1, &work->facts_array_);
    auto* started = work.release();
    // A large file whose name is cached needs one trip to the pool instead of two.
    auto opened = open_without_waiting(*started->root_, started->path_, started->guard_.get());
    if (opened.has_value() && opened->file.facts.size > static_cast<std::int64_t>(small_file)) {
      started->opened_.emplace(std::move(*opened));
      if (static_cast<std::uint64_t>(started->opened_->file.facts.size) > started->limit_) started->refuse_content();
      started->next(env);
    } else {
      started->queue(env, open_on_pool, opened_on_pool);
    }
    return promise;
  }

 private:
  ReadWork() = default;

  Status prepare(napi_env env, const MethodCall<DirectoryHandle, 4>& call) {
    root_ = call.self->held;
    if (root_ == nullptr) return Failure::refused(Refusal::handle_closed);
    auto path = arguments::read_path(env, call.arguments[0], arguments::DotPath::refuse);
    if (!path) return path.failure();
    path_ = path.take();
    const auto limit = arguments::read_count(env, call.arguments[1]);
    if (!limit) return limit.failure();
    limit_ = limit.value();
    if (const auto slots = arguments::read_facts(env, call.arguments[2]); !slots) return slots.failure();
    auto guard = share_guard(env, call.arguments[3], *root_);
    if (!guard) return guard.failure();
    guard_ = guard.take();
    return Done{};
  }

  void queue(napi_env env, napi_async_execute_callback execute, napi_async_complete_callback complete) {
    napi_value name = nullptr;
    napi_create_string_latin1(env, "workspace-authority", NAPI_AUTO_LENGTH, &name);
    napi_create_async_work(env, nullptr, name, execute, complete, this, &work_);
    napi_queue_async_work(env, work_);
  }

  static void open_on_pool(napi_env, void* data) {
    auto* self = static_cast<ReadWork*>(data);
    auto opened = open_guarded(*self->root_, self->path_, self->guard_.get());
    if (!opened) {
      self->failure_ = opened.failure();
      return;
    }
    self->opened_.emplace(opened.take());
    const auto size = static_cast<std::uint64_t>(self->opened_->file.facts.size);
    if (size > self->limit_) self->refuse_content();
    if (size > self->limit_ || size > small_file) return;
    self->small_.reset(new char[size + 1]);
    self->fill_into(self->small_.get());
  }

  static void opened_on_pool(napi_env env, napi_status status, void* data) {
    auto* self = static_cast<ReadWork*>(data);
    if (self->finished(env, status)) return;
    if (self->failure_.has_value()) {
      self->reject(env, *self->failure_);
    } else if (self->small_ != nullptr) {
      self->conclude(env);
    } else {
      self->next(env);
    }
  }

  /** For a file that is larger than the limit: decides whether its size may be told, and closes it. */
  void refuse_content() {
    filled_ = confirm_guarded(*opened_, guard_.get());
    opened_->file.fd.reset(-1);
  }

  /** With a file that is too large for the scratch buffer open. */
  void next(napi_env env) {
    const FileFacts& facts = opened_->file.facts;
    if (static_cast<std::uint64_t>(facts.size) > limit_) {
      if (filled_ == Fill::complete) {
        copy_facts(env);
        reject(env, Failure{EFBIG, "statx", Refusal::none});
      } else {
        conclude(env);
      }
      return;
    }
    void* data = nullptr;
    napi_value buffer = nullptr;
    if (napi_create_buffer(env, static_cast<std::size_t>(facts.size), &data, &buffer) != napi_ok) {
      reject_with_pending(env);
      return;
    }
    napi_create_reference(env, buffer, 1, &buffer_);
    buffer_data_ = static_cast<char*>(data);
    queue(env, fill_on_pool, filled_on_pool);
  }

  static void fill_on_pool(napi_env, void* data) {
    auto* self = static_cast<ReadWork*>(data);
    syscalls::populate(self->buffer_data_, static_cast<std::size_t>(self->opened_->file.facts.size));
    self->fill_into(self->buffer_data_);
  }

  static void filled_on_pool(napi_env env, napi_status status, void* data) {
    auto* self = static_cast<ReadWork*>(data);
    if (!self->finished(env, status)) self->conclude(env);
  }

  void fill_into(char* buffer) {
    const auto filled = fill(*opened_, guard_.get(), buffer);
    if (filled) {
      filled_ = filled.value();
    } else {
      failure_ = filled.failure();
    }
    // Here on the pool: close(2) waits for the server of a FUSE file system.
    opened_->file.fd.reset(-1);
  }

  /** Settles the promise, or starts over when the file changed. */
  void conclude(napi_env env) {
    if (failure_.has_value()) {
      reject(env, *failure_);
    } else if (filled_ == Fill::closed) {
      reject(env, Failure::refused(Refusal::closed_directory));
    } else if (filled_ == Fill::changed) {
      if (++attempt_ == attempts) {
        reject(env, Failure{EAGAIN, "read", Refusal::none});
        return;
      }
      release(env);
      queue(env, open_on_pool, opened_on_pool);
    } else {
      resolve(env);
    }
  }

  void resolve(napi_env env) {
    const bool copied = copy_facts(env);
    napi_value result = nullptr;
    if (small_ != nullptr) {
      result = values::bytes(env, small_.get(), static_cast<std::size_t>(opened_->file.facts.size));
    } else {
      napi_get_reference_value(env, buffer_, &result);
    }
    if (!copied) {
      reject(env, Failure{EINVAL, nullptr, Refusal::none});
    } else if (result == nullptr) {
      reject_with_pending(env);
    } else {
      napi_resolve_deferred(env, deferred_, result);
      destroy(env);
    }
  }

  /** False when JavaScript has taken the array's memory away meanwhile. */
  bool copy_facts(napi_env env) {
    napi_value array = nullptr;
    napi_get_reference_value(env, facts_array_, &array);
    const auto slots = arguments::read_facts(env, array);
    if (slots) opened_->file.facts.copy_to(slots.value());
    return slots.ok();
  }

  void reject(napi_env env, const Failure& failure) {
    napi_reject_deferred(env, deferred_, make_error(env, failure));
    destroy(env);
  }

  void reject_with_pending(napi_env env) {
    napi_value exception = nullptr;
    napi_get_and_clear_last_exception(env, &exception);
    napi_reject_deferred(env, deferred_, exception);
    destroy(env);
  }

  /** True when the environment is ending and nobody is left to hear an answer. */
  bool finished(napi_env env, napi_status status) {
    napi_delete_async_work(env, work_);
    work_ = nullptr;
    if (status == napi_ok) return false;
    destroy(env);
    return true;
  }

  void release(napi_env env) {
    if (buffer_ != nullptr) napi_delete_reference(env, buffer_);
    buffer_ = nullptr;
    small_.reset();
    opened_.reset();
    failure_.reset();
  }

  void destroy(napi_env env) {
    release(env);
    napi_delete_reference(env, facts_array_);
    delete this;
  }

  std::shared_ptr<HeldDirectory> root_;
  std::string path_;
  std::uint64_t limit_ = 0;
  std::shared_ptr<PathGuard> guard_;
  int attempt_ = 0;

  std::optional<GuardedFile> opened_;
  std::optional<Failure> failure_;
  Fill filled_ = Fill::complete;
  std::unique_ptr<char[]> small_;
  char* buffer_data_ = nullptr;

  napi_deferred deferred_ = nullptr;
  napi_async_work work_ = nullptr;
  napi_ref facts_array_ = nullptr;
  napi_ref buffer_ = nullptr;
};

}  // namespace

std::vector<napi_property_descriptor> read_methods() {
  return {method("readCached", read_cached), method("read", ReadWork::start)};
}

}  // namespace workspace_authority
