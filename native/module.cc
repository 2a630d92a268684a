#include <napi.h>

#include <vector>

#include "directory_handle.h"
#include "environment.h"
#include "file_handle.h"
#include "guard_handle.h"
#include "handle.h"
#include "kernel_report.h"
#include "lease.h"
#include "read_work.h"
#include "result_memory.h"
#include "transaction/methods.h"

#ifdef WITH_FAULTS
#include "fault.h"
#include "raw_openat2.h"
#endif

namespace workspace_authority {
namespace {

napi_value open_handles(napi_env env, napi_callback_info) {
  napi_value count = nullptr;
  napi_create_int64(env, Environment::of(env).descriptor_count()->load(), &count);
  return count;
}

void append(std::vector<napi_property_descriptor>& to, const std::vector<napi_property_descriptor>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

/** The addon's table of contents: classes with their methods, then functions. */
napi_value initialize(napi_env env, napi_value exports) {
  Environment::create(env);

  std::vector<napi_property_descriptor> directory;
  append(directory, directory_methods());
  append(directory, query_methods());
  append(directory, read_methods());
  append(directory, write_methods());
  directory.push_back(method("openLease", open_lease));
  define_class<DirectoryHandle>(env, directory);
  define_class<FileHandle>(env, file_methods());
  define_class<PathGuardHandle>(env, guard_methods());
  define_class<LeaseHandle>(env, lease_methods());

  const std::vector<napi_property_descriptor> functions{
      method("probe", probe),
      method("openRoot", open_root),
      method("createGuard", create_guard),
      method("openHandles", open_handles),
      method("useBlocksFrom", use_blocks_from),
  };
  napi_define_properties(env, exports, functions.size(), functions.data());
#ifdef WITH_FAULTS
  const std::vector<napi_property_descriptor> test_functions{
      method("setFault", faults::set_fault),
      method("faultTrace", faults::fault_trace),
      method("rawOpenat2", raw_openat2),
  };
  napi_define_properties(env, exports, test_functions.size(), test_functions.data());
#endif
  return exports;
}

}  // namespace
}  // namespace workspace_authority

NAPI_MODULE_INIT() { return workspace_authority::initialize(env, exports); }
