#ifdef WITH_FAULTS

#include "fault.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arguments.h"
#include "call_hooks.h"
#include "errors.h"

namespace workspace_authority::faults {
namespace {

struct Plan {
  bool armed = false;
  std::string syscall;
  std::uint64_t occurrence = 0;
  bool after = false;
  /** SIGKILL or SIGSTOP for this process, or 0. */
  int signal = 0;
  /** Whether the thread goes no further for a while, and the process does. */
  bool lingers = false;
  int error = 0;
  /** Armed when this one has struck; it counts from there. */
  std::shared_ptr<const Plan> next;
};

// Far more than a process takes to exit.
constexpr useconds_t linger_us = 500'000;

std::mutex mutex;
Plan plan;
std::uint64_t matches = 0;
std::vector<const char*> trace;

thread_local bool watched = false;
/** Whether the call that runs on this thread is the one to strike after it. */
thread_local bool strike_after = false;

/** Dies, stops, lingers, or returns the errno to fail with. With the mutex held, so that no other call slips in
 * between. */
int strike() {
  const Plan struck = std::move(plan);
  plan = struck.next ? *struck.next : Plan();
  matches = 0;
  // To this thread, which then goes no further; another one might take a signal for the process a moment too late.
  if (struck.signal != 0) ::syscall(SYS_tgkill, ::getpid(), ::syscall(SYS_gettid), struck.signal);
  if (struck.lingers) ::usleep(linger_us);
  return struck.error;
}

int before_call(const char* syscall) {
  if (!watched) return 0;
  const std::lock_guard<std::mutex> lock(mutex);
  trace.push_back(syscall);
  strike_after = false;
  if (!plan.armed || (plan.syscall != "*" && plan.syscall != syscall)) return 0;
  if (++matches != plan.occurrence) return 0;
  if (!plan.after) return strike();
  strike_after = true;
  return 0;
}

int after_call(const char*) {
  if (!watched || !strike_after) return 0;
  const std::lock_guard<std::mutex> lock(mutex);
  strike_after = false;
  return strike();
}

Result<std::string> read_word(napi_env env, napi_value value) {
  char text[64];
  std::size_t length = 0;
  if (value == nullptr || napi_get_value_string_latin1(env, value, text, sizeof text, &length) != napi_ok) {
    return Failure{EINVAL};
  }
  return std::string(text, length);
}

// A plan holds the next one, as deep as the test that wrote it.
Result<Plan> read_plan(napi_env env, napi_value value) {  // NOLINT(misc-no-recursion)
  Plan read;
  if (arguments::is_nullish(env, value)) return read;
  auto syscall = read_word(env, arguments::property(env, value, "syscall"));
  const auto occurrence = arguments::read_count(env, arguments::property(env, value, "occurrence"));
  const auto when = read_word(env, arguments::property(env, value, "when"));
  if (!syscall || !occurrence || !when) return Failure{EINVAL};
  read.armed = true;
  read.syscall = syscall.take();
  read.occurrence = occurrence.value();
  read.after = when.value() == "after";
  napi_value following = arguments::property(env, value, "next");
  if (!arguments::is_nullish(env, following)) {
    auto next = read_plan(env, following);
    if (!next) return next.failure();
    read.next = std::make_shared<const Plan>(next.take());
  }
  napi_value action = arguments::property(env, value, "action");
  const auto word = read_word(env, action);
  if (word) {
    read.lingers = word.value() == "linger";
    if (!read.lingers) read.signal = word.value() == "kill" ? SIGKILL : SIGSTOP;
    return read;
  }
  const auto error = arguments::read_count(env, arguments::property(env, action, "errno"));
  if (!error || error.value() == 0) return Failure{EINVAL};
  read.error = static_cast<int>(error.value());
  return read;
}

}  // namespace

void watch_this_thread() { watched = true; }

napi_value set_fault(napi_env env, napi_callback_info info) {
  std::size_t count = 1;
  napi_value given = nullptr;
  napi_get_cb_info(env, info, &count, &given, nullptr, nullptr);
  auto read = read_plan(env, given);
  if (!read) return throw_failure(env, read.failure());
  const std::lock_guard<std::mutex> lock(mutex);
  if (call_hooks.before == nullptr) call_hooks = CallHooks{before_call, after_call};
  plan = read.take();
  matches = 0;
  trace.clear();
  return nullptr;
}

napi_value fault_trace(napi_env env, napi_callback_info) {
  const std::lock_guard<std::mutex> lock(mutex);
  napi_value names = nullptr;
  napi_create_array_with_length(env, trace.size(), &names);
  for (std::uint32_t index = 0; index < trace.size(); ++index) {
    napi_value name = nullptr;
    napi_create_string_latin1(env, trace[index], NAPI_AUTO_LENGTH, &name);
    napi_set_element(env, names, index, name);
  }
  return names;
}

}  // namespace workspace_authority::faults

#endif
