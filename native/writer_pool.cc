#include "writer_pool.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>

#include "late_close.h"
#include "old_libraries.h"

#ifdef WITH_FAULTS
#include "fault.h"
#endif

namespace workspace_authority {
namespace {

// Journalling file systems commit all waiting syncs in one go, so the number that can wait is what sets the throughput:
// sixteen concurrent commits on ext4 took 250 us each with four threads, 190 us with eight, 150 us with sixteen.
constexpr std::size_t thread_limit = 8;

// Transactions keep buffers on the heap; glibc's default of 8 MiB of address space a thread is no use here.
constexpr std::size_t stack_size = std::size_t{256} * 1024;

/** The pools whose environments have not ended. */
struct LivePools {
  std::mutex mutex;
  std::vector<WriterPool*> pools;
};

LivePools& live_pools() {
  // Never destroyed: environments of other threads may end while the process exits.
  static auto* const live = new LivePools();
  return *live;
}

}  // namespace

WriterPool::WriterPool(napi_env env) : env_(env) {
  // process.exit() on the main thread runs no hook of its environment; exit(3) it does call.
  static const bool registered = std::atexit(stop_all) == 0;
  static_cast<void>(registered);
  {
    LivePools& live = live_pools();
    const std::lock_guard<std::mutex> lock(live.mutex);
    live.pools.push_back(this);
  }
  napi_value name = nullptr;
  napi_create_string_latin1(env, "workspace-authority", NAPI_AUTO_LENGTH, &name);
  napi_create_threadsafe_function(env, nullptr, nullptr, name, 0, 1, nullptr, nullptr, this, deliver, &results_);
  napi_unref_threadsafe_function(env, results_);
  // Hooks run last in, first out: threads must end before the function that they call, which has a hook of its own.
  napi_add_env_cleanup_hook(env, [](void* pool) { static_cast<WriterPool*>(pool)->stop(); }, this);
}

WriterPool::~WriterPool() {
  LivePools& live = live_pools();
  // Held, so that no pool goes while `stop_all` waits for its threads.
  const std::lock_guard<std::mutex> lock(live.mutex);
  live.pools.erase(std::find(live.pools.begin(), live.pools.end(), this));
  stop();
}

void WriterPool::stop_all() {
  LivePools& live = live_pools();
  const std::lock_guard<std::mutex> lock(live.mutex);
  for (WriterPool* pool : live.pools) pool->stop();
}

bool WriterPool::submit(napi_env env, std::unique_ptr<Work> work) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (idle_ <= queue_.size() && threads_.size() < thread_limit && !start_thread() && threads_.empty()) return false;
    queue_.push_back(std::move(work));
  }
  // After the unlocking: a thread that wakes to a held mutex goes to sleep once more.
  wake_.notify_one();
  if (unsettled_++ == 0) napi_ref_threadsafe_function(env, results_);
  return true;
}

bool WriterPool::start_thread() {
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return false;
  pthread_attr_setstacksize(&attributes, stack_size);
  // Inherited by the thread: signals are the application's, and none may interrupt or end a transaction.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread{};
  const int error = pthread_create(&thread, &attributes, run_thread, this);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  if (error != 0) return false;
  threads_.push_back(thread);
  return true;
}

void* WriterPool::run_thread(void* pool) {
  static_cast<WriterPool*>(pool)->run();
  return nullptr;
}

void WriterPool::run() {
#ifdef WITH_FAULTS
  faults::watch_this_thread();
#endif
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    ++idle_;
    wake_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
    --idle_;
    if (stopping_) return;
    std::unique_ptr<Work> work = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    work->execute();
    // Never blocks and cannot be refused before `stop`, as the queue of results is unlimited.
    if (napi_call_threadsafe_function(results_, work.get(), napi_tsfn_nonblocking) == napi_ok) {
      static_cast<void>(work.release());
    }
    close_late_ones();
    lock.lock();
  }
}

void WriterPool::deliver(napi_env env, napi_value, void* pool, void* data) {
  const std::unique_ptr<Work> work(static_cast<Work*>(data));
  // Null while the environment ends; nobody is left to hear an answer.
  if (env == nullptr) return;
  auto* self = static_cast<WriterPool*>(pool);
  if (--self->unsettled_ == 0) napi_unref_threadsafe_function(env, self->results_);
  work->settle(env);
}

void WriterPool::stop() {
  std::vector<pthread_t> threads;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
    threads.swap(threads_);
    wake_.notify_all();
  }
  for (const pthread_t thread : threads) pthread_join(thread, nullptr);
  queue_.clear();
}

}  // namespace workspace_authority
