#include "handle.h"

#include <utility>

namespace workspace_authority {

Handle::Handle(Environment& environment) : environment_(&environment), next_(environment.first_handle_) {
  if (next_ != nullptr) next_->previous_ = this;
  environment.first_handle_ = this;
}

Handle::~Handle() { leave_environment(); }

void Handle::leave_environment() {
  if (environment_ == nullptr) return;
  if (next_ != nullptr) next_->previous_ = previous_;
  if (previous_ != nullptr) {
    previous_->next_ = next_;
  } else {
    environment_->first_handle_ = next_;
  }
  environment_->live_handles_.erase(this);
  environment_ = nullptr;
  previous_ = nullptr;
  next_ = nullptr;
}

namespace handles {
namespace {

// Set only while `instantiate` runs, on this thread: how the constructor knows that the call is ours.
thread_local bool constructing = false;

napi_value construct(napi_env env, napi_callback_info info) {
  napi_value receiver = nullptr;
  std::size_t count = 0;
  napi_get_cb_info(env, info, &count, nullptr, &receiver, nullptr);
  if (!constructing) {
    napi_throw_type_error(env, "ERR_ILLEGAL_CONSTRUCTOR", "Illegal constructor");
    return nullptr;
  }
  return receiver;
}

}  // namespace

void define(napi_env env, const char* class_name, const void* class_key,
            const std::vector<napi_property_descriptor>& methods) {
  napi_value constructor = nullptr;
  if (napi_define_class(env, class_name, NAPI_AUTO_LENGTH, construct, nullptr, methods.size(), methods.data(),
                        &constructor) == napi_ok) {
    Environment::of(env).set_constructor(env, class_key, constructor);
  }
}

napi_value instantiate(napi_env env, const void* class_key, const napi_type_tag& tag, std::unique_ptr<Handle> handle) {
  napi_value constructor = Environment::of(env).constructor(env, class_key);
  napi_value instance = nullptr;
  constructing = true;
  const napi_status created = napi_new_instance(env, constructor, 0, nullptr, &instance);
  constructing = false;
  if (created != napi_ok) return nullptr;
  const napi_status wrapped = napi_wrap(
      env, instance, handle.get(), [](napi_env, void* data, void*) { delete static_cast<Handle*>(data); }, nullptr,
      nullptr);
  if (wrapped != napi_ok) return nullptr;
  // Owned by the JavaScript object from here on: its finalizer deletes it.
  const Handle* owned = handle.release();
  if (napi_type_tag_object(env, instance, &tag) != napi_ok) return nullptr;
  Environment::of(env).set_tag(owned, tag);
  return instance;
}

Handle* unwrap(napi_env env, napi_value value, const napi_type_tag& tag) {
  bool tagged = false;
  if (napi_check_object_type_tag(env, value, &tag, &tagged) != napi_ok || !tagged) return nullptr;
  void* data = nullptr;
  if (napi_unwrap(env, value, &data) != napi_ok) return nullptr;
  return static_cast<Handle*>(data);
}

Handle* recognise(napi_env env, napi_value value, const napi_type_tag& tag) {
  void* data = nullptr;
  if (napi_unwrap(env, value, &data) != napi_ok) return nullptr;
  if (Environment::of(env).tag_of(data) != &tag) return nullptr;
  return static_cast<Handle*>(data);
}

void throw_illegal_invocation(napi_env env) { napi_throw_type_error(env, "ERR_INVALID_THIS", "Illegal invocation"); }

}  // namespace handles
}  // namespace workspace_authority
