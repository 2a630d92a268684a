#pragma once

#include <node_api.h>

#include <memory>
#include <optional>
#include <utility>

#include "errors.h"
#include "result.h"

namespace workspace_authority {

/**
 * Runs `execute() -> Result<T>` on the libuv pool and settles the returned promise with `convert(env, T&) ->
 * napi_value` on the JavaScript thread. `execute` must own (share) everything it uses and must not touch JavaScript.
 * Raw work items, as Napi::AsyncWorker costs about half as much again.
 */
template <typename Execute, typename Convert>
class PoolWork {
 public:
  using Outcome = decltype(std::declval<Execute&>()());

  static napi_value start(napi_env env, Execute execute, Convert convert) {
    auto work = std::unique_ptr<PoolWork>(new PoolWork(std::move(execute), std::move(convert)));
    napi_value promise = nullptr;
    napi_value name = nullptr;
    if (napi_create_promise(env, &work->deferred_, &promise) != napi_ok ||
        napi_create_string_latin1(env, "workspace-authority", NAPI_AUTO_LENGTH, &name) != napi_ok ||
        napi_create_async_work(env, nullptr, name, run, complete, work.get(), &work->work_) != napi_ok ||
        napi_queue_async_work(env, work->work_) != napi_ok) {
      return nullptr;
    }
    // Owned by the queue until `complete`.
    static_cast<void>(work.release());
    return promise;
  }

 private:
  PoolWork(Execute execute, Convert convert) : execute_(std::move(execute)), convert_(std::move(convert)) {}

  static void run(napi_env, void* data) {
    auto* self = static_cast<PoolWork*>(data);
    self->outcome_.emplace(self->execute_());
  }

  static void complete(napi_env env, napi_status status, void* data) {
    const std::unique_ptr<PoolWork> self(static_cast<PoolWork*>(data));
    napi_delete_async_work(env, self->work_);
    // Cancelled only when the environment ends; nobody is left to hear an answer.
    if (status != napi_ok || !self->outcome_.has_value()) return;
    settle(env, self->deferred_, *self->outcome_, self->convert_);
  }

  static void settle(napi_env env, napi_deferred deferred, Outcome& outcome, Convert& convert) {
    if (!outcome) {
      napi_reject_deferred(env, deferred, make_error(env, outcome.failure()));
      return;
    }
    napi_value value = convert(env, outcome.value());
    if (value != nullptr) {
      napi_resolve_deferred(env, deferred, value);
      return;
    }
    napi_value exception = nullptr;
    napi_get_and_clear_last_exception(env, &exception);
    napi_reject_deferred(env, deferred, exception);
  }

  Execute execute_;
  Convert convert_;
  std::optional<Outcome> outcome_;
  napi_deferred deferred_ = nullptr;
  napi_async_work work_ = nullptr;
};

template <typename Execute, typename Convert>
napi_value run_on_pool(napi_env env, Execute execute, Convert convert) {
  return PoolWork<Execute, Convert>::start(env, std::move(execute), std::move(convert));
}

/** `convert` of work that resolves to undefined. */
inline napi_value to_undefined(napi_env env, Done&) {
  napi_value undefined = nullptr;
  napi_get_undefined(env, &undefined);
  return undefined;
}

}  // namespace workspace_authority
