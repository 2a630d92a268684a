#pragma once

#include <node_api.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

namespace workspace_authority {

class Handle;

/** Number of held descriptors; shared with the descriptors, since they may outlive the environment by a running call.
 */
using DescriptorCount = std::shared_ptr<std::atomic<std::int64_t>>;

/**
 * What the addon keeps per Node environment (main thread or worker): class constructors and the list of live handles.
 * Lives and is used on that environment's thread only.
 */
class Environment {
 public:
  /** Creates the instance data of `env`; the environment's end closes every handle. Called once, by module.cc. */
  static void create(napi_env env);
  static Environment& of(napi_env env);

  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

  [[nodiscard]] const DescriptorCount& descriptor_count() const { return descriptor_count_; }

  void set_constructor(napi_env env, const void* class_key, napi_value constructor);
  napi_value constructor(napi_env env, const void* class_key) const;

 private:
  friend class Handle;

  Environment() = default;
  ~Environment() = default;
  static void clean_up(void* data);

  DescriptorCount descriptor_count_ = std::make_shared<std::atomic<std::int64_t>>(0);
  std::vector<std::pair<const void*, napi_ref>> constructors_;
  Handle* first_handle_ = nullptr;
};

}  // namespace workspace_authority
