#pragma once

#include <optional>
#include <utility>

namespace workspace_authority {

/** Refusals of our own, which no errno names. Spelled for JavaScript in errors.cc. */
enum class Refusal {
  none,
  not_regular,
  closed_directory,
  handle_closed,
  writer_open,
  metadata,
  parent_moved,
};

/** What a failed operation knows: facts only. The TypeScript side decides what to call it. */
struct Failure {
  int error = 0;
  /** Name of the system call; a string literal. Null where no call was made. */
  const char* syscall = nullptr;
  Refusal refusal = Refusal::none;

  static Failure refused(Refusal refusal, const char* syscall = nullptr) { return Failure{0, syscall, refusal}; }
};

/** A value or a Failure. The addon is built without exceptions, so every failure is a return value. */
template <typename T>
class [[nodiscard]] Result {
 public:
  // Implicit on purpose: `return value;` and `return failure;` read as what they are.
  Result(T value) : value_(std::move(value)) {}          // NOLINT(google-explicit-constructor)
  Result(const Failure& failure) : failure_(failure) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] bool ok() const { return value_.has_value(); }
  explicit operator bool() const { return ok(); }

  T& value() { return *value_; }
  const T& value() const { return *value_; }
  T take() { return std::move(*value_); }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }

  [[nodiscard]] const Failure& failure() const { return failure_; }
  [[nodiscard]] bool failed_with(int error) const { return !ok() && failure_.error == error; }

 private:
  std::optional<T> value_;
  Failure failure_;
};

/** The value of an operation that only succeeds or fails. */
struct Done {};
using Status = Result<Done>;

}  // namespace workspace_authority
