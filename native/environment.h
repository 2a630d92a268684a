#pragma once

#include <node_api.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "result_memory.h"

namespace workspace_authority {

class DirectoryWatch;
class Handle;
class MountTable;
class WriterPool;

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

  /** Threads for work that waits for the disk; made when first asked for. */
  WriterPool& writers(napi_env env);

  /** Shared with the directories that are held. */
  [[nodiscard]] const std::shared_ptr<MountTable>& mounts() const { return mounts_; }

  /** The watch that all guards share; made when first asked for, gone with the last guard. Null where there is none to
   * be had. */
  std::shared_ptr<DirectoryWatch> directory_watch();

  ResultMemory& result_memory() { return result_memory_; }

  /** Memory for one call of the JavaScript thread, of at least `size` bytes. */
  char* scratch(std::size_t size);

  /** The tag that the live handle at this address was made with; null when there is none there. Never looks at the
   * address. */
  [[nodiscard]] const napi_type_tag* tag_of(const void* handle) const;
  void set_tag(const Handle* handle, const napi_type_tag& tag);

  void set_constructor(napi_env env, const void* class_key, napi_value constructor);
  napi_value constructor(napi_env env, const void* class_key) const;

 private:
  friend class Handle;

  Environment();
  ~Environment();
  static void clean_up(void* data);

  DescriptorCount descriptor_count_ = std::make_shared<std::atomic<std::int64_t>>(0);
  std::vector<std::pair<const void*, napi_ref>> constructors_;
  Handle* first_handle_ = nullptr;
  std::unordered_map<const void*, const napi_type_tag*> live_handles_;
  std::shared_ptr<MountTable> mounts_;
  std::weak_ptr<DirectoryWatch> directory_watch_;
  std::vector<char> scratch_;
  ResultMemory result_memory_;
  std::unique_ptr<WriterPool> writers_;
};

}  // namespace workspace_authority
