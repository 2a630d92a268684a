#pragma once

#include <node_api.h>

#include <array>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <vector>

#include "environment.h"

namespace workspace_authority {

/**
 * Base of every native object behind a JavaScript handle. A subclass states
 *   static constexpr const char* class_name;
 *   static constexpr napi_type_tag type_tag;   // random, unique
 *   void close() override;                     // lets everything go; harmless when repeated
 * The object is closed by JavaScript, by garbage collection, or by the end of the environment, whichever comes first.
 */
class Handle {
 public:
  explicit Handle(Environment& environment);
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  virtual ~Handle();

  virtual void close() = 0;

 private:
  friend class Environment;
  void leave_environment();

  Environment* environment_;
  Handle* previous_ = nullptr;
  Handle* next_ = nullptr;
};

namespace handles {

/** Defines the class in this environment. Its constructor throws when JavaScript calls it. */
void define(napi_env env, const char* class_name, const void* class_key,
            const std::vector<napi_property_descriptor>& methods);
/** A new tagged instance that owns `handle`; null with a pending exception on failure. */
napi_value instantiate(napi_env env, const void* class_key, const napi_type_tag& tag, std::unique_ptr<Handle> handle);
/** The native object behind `value`; null when it is anything but an instance with this tag. Never throws. */
Handle* unwrap(napi_env env, napi_value value, const napi_type_tag& tag);
/**
 * The same at a third of the cost, for calls that are made hundreds of thousands of times a second: what another addon
 * has wrapped is told from ours by its address, which is looked up and not followed.
 */
Handle* recognise(napi_env env, napi_value value, const napi_type_tag& tag);
void throw_illegal_invocation(napi_env env);

}  // namespace handles

inline napi_property_descriptor method(const char* name, napi_callback callback) {
  return {name, nullptr, callback, nullptr, nullptr, nullptr, napi_default_method, nullptr};
}

template <typename H>
void define_class(napi_env env, const std::vector<napi_property_descriptor>& methods) {
  handles::define(env, H::class_name, &H::type_tag, methods);
}

template <typename H>
napi_value make_instance(napi_env env, std::unique_ptr<H> handle) {
  return handles::instantiate(env, &H::type_tag, H::type_tag, std::move(handle));
}

/** An argument that must be a handle of class H; null when it is not. Does not throw. */
template <typename H>
H* unwrap_argument(napi_env env, napi_value value) {
  return static_cast<H*>(handles::unwrap(env, value, H::type_tag));
}

/** Receiver and arguments of one method call. Missing arguments are `undefined`. */
template <typename H, std::size_t count>
struct MethodCall {
  H* self = nullptr;
  std::array<napi_value, count> arguments{};

  /** False with a pending TypeError when the receiver is no handle of class H. */
  bool read(napi_env env, napi_callback_info info) { return read_by(handles::unwrap, env, info); }
  /** See `handles::recognise`. */
  bool read_fast(napi_env env, napi_callback_info info) { return read_by(handles::recognise, env, info); }

 private:
  template <typename Unwrap>
  bool read_by(Unwrap unwrap, napi_env env, napi_callback_info info) {
    std::size_t given = count;
    napi_value receiver = nullptr;
    napi_get_cb_info(env, info, &given, arguments.data(), &receiver, nullptr);
    self = static_cast<H*>(unwrap(env, receiver, H::type_tag));
    if (self == nullptr) handles::throw_illegal_invocation(env);
    return self != nullptr;
  }
};

}  // namespace workspace_authority
