#include "file_handle.h"

#include <algorithm>
#include <cerrno>
#include <optional>

#include "arguments.h"
#include "errors.h"
#include "identity.h"
#include "regular_file.h"
#include "syscalls.h"
#include "values.h"

namespace workspace_authority {
namespace {

napi_value close_file(napi_env env, napi_callback_info info) {
  MethodCall<FileHandle, 0> call;
  if (call.read(env, info)) call.self->close();
  return nullptr;
}

napi_value file_identity(napi_env env, napi_callback_info info) {
  MethodCall<FileHandle, 0> call;
  if (!call.read(env, info)) return nullptr;
  if (call.self->held == nullptr) return throw_failure(env, Failure::refused(Refusal::handle_closed));
  const auto identity = read_identity(call.self->held->fd());
  if (!identity) return throw_failure(env, identity.failure());
  return values::identity(env, identity.value());
}

napi_value file_facts(napi_env env, napi_callback_info info) {
  MethodCall<FileHandle, 0> call;
  if (!call.read(env, info)) return nullptr;
  if (call.self->held == nullptr) return throw_failure(env, Failure::refused(Refusal::handle_closed));
  const auto facts = regular_facts(call.self->held->fd());
  if (!facts) return throw_failure(env, facts.failure());
  void* slots = nullptr;
  napi_value array = values::typed_array(env, napi_bigint64_array, FileFacts::count, &slots);
  if (array != nullptr) facts->copy_to(static_cast<std::int64_t*>(slots));
  return array;
}

/** Fills memory of the JavaScript heap on the pool: see ReadWork for why. */
class ReadAtWork {
 public:
  static napi_value start(napi_env env, napi_callback_info info) {
    MethodCall<FileHandle, 2> call;
    if (!call.read(env, info)) return reject_pending(env);
    if (call.self->held == nullptr) return reject_failure(env, Failure::refused(Refusal::handle_closed));
    const auto position = arguments::read_count(env, call.arguments[0]);
    if (!position) return reject_failure(env, position.failure());
    const auto length = arguments::read_count(env, call.arguments[1]);
    if (!length) return reject_failure(env, length.failure());
    const auto facts = regular_facts(call.self->held->fd());
    if (!facts) return reject_failure(env, facts.failure());

    auto work = std::unique_ptr<ReadAtWork>(new ReadAtWork());
    const auto size = static_cast<std::uint64_t>(facts->size);
    const std::uint64_t left = size > position.value() ? size - position.value() : 0;
    work->file_ = call.self->held;
    work->position_ = position.value();
    work->length_ = static_cast<std::size_t>(std::min(length.value(), left));
    void* data = nullptr;
    napi_value promise = nullptr;
    napi_value buffer = nullptr;
    napi_value name = nullptr;
    if (napi_create_buffer(env, work->length_, &data, &buffer) != napi_ok) return reject_pending(env);
    work->data_ = static_cast<char*>(data);
    napi_create_promise(env, &work->deferred_, &promise);
    napi_create_reference(env, buffer, 1, &work->buffer_);
    napi_create_string_latin1(env, "workspace-authority", NAPI_AUTO_LENGTH, &name);
    napi_create_async_work(env, nullptr, name, execute, complete, work.get(), &work->work_);
    napi_queue_async_work(env, work->work_);
    // Owned by the queue until `complete`.
    static_cast<void>(work.release());
    return promise;
  }

 private:
  ReadAtWork() = default;

  static void execute(napi_env, void* data) {
    auto* self = static_cast<ReadAtWork*>(data);
    while (self->done_ < self->length_) {
      const auto count = syscalls::pread(self->file_->fd(), self->data_ + self->done_, self->length_ - self->done_,
                                         self->position_ + self->done_);
      if (!count) {
        self->failure_ = count.failure();
        return;
      }
      // The file has shrunk.
      if (count.value() == 0) return;
      self->done_ += count.value();
    }
  }

  static void complete(napi_env env, napi_status status, void* data) {
    const std::unique_ptr<ReadAtWork> self(static_cast<ReadAtWork*>(data));
    napi_delete_async_work(env, self->work_);
    napi_value buffer = nullptr;
    napi_get_reference_value(env, self->buffer_, &buffer);
    napi_delete_reference(env, self->buffer_);
    if (status != napi_ok) return;
    if (self->failure_.has_value()) {
      napi_reject_deferred(env, self->deferred_, make_error(env, *self->failure_));
    } else if (self->done_ == self->length_) {
      napi_resolve_deferred(env, self->deferred_, buffer);
    } else {
      // A copy of what there was: the rest of the memory holds old bytes of this process.
      napi_resolve_deferred(env, self->deferred_, values::bytes(env, self->data_, self->done_));
    }
  }

  std::shared_ptr<HeldDescriptor> file_;
  std::uint64_t position_ = 0;
  std::size_t length_ = 0;
  std::size_t done_ = 0;
  char* data_ = nullptr;
  std::optional<Failure> failure_;
  napi_deferred deferred_ = nullptr;
  napi_async_work work_ = nullptr;
  napi_ref buffer_ = nullptr;
};

}  // namespace

std::vector<napi_property_descriptor> file_methods() {
  return {method("close", close_file), method("identity", file_identity), method("facts", file_facts),
          method("readAt", ReadAtWork::start)};
}

}  // namespace workspace_authority
