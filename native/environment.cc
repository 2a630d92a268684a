#include "environment.h"

#include "directory_watch.h"
#include "handle.h"
#include "mount_table.h"
#include "writer_pool.h"

namespace workspace_authority {

Environment::Environment() : mounts_(std::make_shared<MountTable>()) {}
Environment::~Environment() = default;

void Environment::create(napi_env env) {
  auto* environment = new Environment();
  napi_set_instance_data(
      env, environment, [](napi_env, void* data, void*) { delete static_cast<Environment*>(data); }, nullptr);
  napi_add_env_cleanup_hook(env, clean_up, environment);
}

Environment& Environment::of(napi_env env) {
  void* data = nullptr;
  napi_get_instance_data(env, &data);
  return *static_cast<Environment*>(data);
}

void Environment::clean_up(void* data) {
  // Finalizers delete the objects, in no promised order with this one; here they let go of what they hold and of us.
  auto* environment = static_cast<Environment*>(data);
  while (Handle* handle = environment->first_handle_) {
    handle->close();
    handle->leave_environment();
  }
}

WriterPool& Environment::writers(napi_env env) {
  if (writers_ == nullptr) writers_ = std::make_unique<WriterPool>(env);
  return *writers_;
}

std::shared_ptr<DirectoryWatch> Environment::directory_watch() {
  if (auto watch = directory_watch_.lock()) return watch;
  auto created = DirectoryWatch::create(descriptor_count_);
  if (!created) return nullptr;
  directory_watch_ = created.value();
  return created.take();
}

char* Environment::scratch(std::size_t size) {
  if (scratch_.size() < size) scratch_.resize(size);
  return scratch_.data();
}

const napi_type_tag* Environment::tag_of(const void* handle) const {
  const auto found = live_handles_.find(handle);
  return found == live_handles_.end() ? nullptr : found->second;
}

void Environment::set_tag(const Handle* handle, const napi_type_tag& tag) { live_handles_[handle] = &tag; }

void Environment::set_constructor(napi_env env, const void* class_key, napi_value constructor) {
  napi_ref reference = nullptr;
  napi_create_reference(env, constructor, 1, &reference);
  constructors_.emplace_back(class_key, reference);
}

napi_value Environment::constructor(napi_env env, const void* class_key) const {
  napi_value constructor = nullptr;
  for (const auto& [key, reference] : constructors_) {
    if (key == class_key) napi_get_reference_value(env, reference, &constructor);
  }
  return constructor;
}

}  // namespace workspace_authority
