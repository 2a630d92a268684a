#pragma once

#include <node_api.h>
#include <pthread.h>

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "errors.h"

namespace workspace_authority {

/**
 * Threads of one environment for work that waits for the disk. The libuv pool is shared with every read of the process:
 * eight writers on it raised the 99th percentile of a read a hundredfold.
 *
 * Threads start when work finds none idle. The queue has no limit of its own; callers limit it. The end of the
 * environment or of the process, but by a signal, waits for running work and drops queued work unrun, as a crash at
 * that moment would.
 */
class WriterPool {
 public:
  class Work {
   public:
    Work() = default;
    Work(const Work&) = delete;
    Work& operator=(const Work&) = delete;
    virtual ~Work() = default;

   private:
    friend class WriterPool;
    /** On a writer thread, with all signals blocked. */
    virtual void execute() = 0;
    /** On the JavaScript thread, once. */
    virtual void settle(napi_env env) = 0;
  };

  explicit WriterPool(napi_env env);
  WriterPool(const WriterPool&) = delete;
  WriterPool& operator=(const WriterPool&) = delete;
  ~WriterPool();

  /** Takes the work; false when no thread can be started to do it. JavaScript thread only. */
  bool submit(napi_env env, std::unique_ptr<Work> work);

 private:
  static void* run_thread(void* pool);
  static void deliver(napi_env env, napi_value, void* pool, void* work);
  void run();
  bool start_thread();
  void stop();
  static void stop_all();

  napi_env env_;
  napi_threadsafe_function results_ = nullptr;
  /** Work submitted and not yet settled; while there is any, the event loop stays alive. JavaScript thread only. */
  std::size_t unsettled_ = 0;

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::unique_ptr<Work>> queue_;
  std::vector<pthread_t> threads_;
  std::size_t idle_ = 0;
  bool stopping_ = false;
};

/**
 * Runs `execute() -> Outcome` on a writer thread and settles the returned promise with `convert(env, Outcome&) ->
 * napi_value`, or with the exception that `convert` leaves pending when it returns null. `execute` must own (share)
 * everything it uses and must not touch JavaScript.
 */
template <typename Execute, typename Convert>
napi_value run_on_writers(napi_env env, WriterPool& pool, Execute execute, Convert convert) {
  class Promised final : public WriterPool::Work {
   public:
    Promised(napi_deferred deferred, Execute execute, Convert convert)
        : deferred_(deferred), execute_(std::move(execute)), convert_(std::move(convert)) {}

   private:
    void execute() override { outcome_.emplace(execute_()); }
    void settle(napi_env env) override {
      if (napi_value value = convert_(env, *outcome_); value != nullptr) {
        napi_resolve_deferred(env, deferred_, value);
        return;
      }
      napi_value exception = nullptr;
      napi_get_and_clear_last_exception(env, &exception);
      napi_reject_deferred(env, deferred_, exception);
    }

    napi_deferred deferred_;
    Execute execute_;
    Convert convert_;
    std::optional<decltype(std::declval<Execute&>()())> outcome_;
  };

  napi_deferred deferred = nullptr;
  napi_value promise = nullptr;
  if (napi_create_promise(env, &deferred, &promise) != napi_ok) return nullptr;
  if (!pool.submit(env, std::make_unique<Promised>(deferred, std::move(execute), std::move(convert)))) {
    napi_reject_deferred(env, deferred, make_error(env, Failure{EAGAIN, "clone"}));
  }
  return promise;
}

}  // namespace workspace_authority
