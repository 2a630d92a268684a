#pragma once

namespace workspace_authority {

#ifdef WITH_FAULTS
/**
 * Test build only: every function of syscalls.cc calls `before` and `after` around its system call. A hook answers 0 to
 * go on, or an errno that the call is to fail with; it may also never return. Null hooks are skipped.
 */
struct CallHooks {
  int (*before)(const char* syscall) = nullptr;
  int (*after)(const char* syscall) = nullptr;
};
extern CallHooks call_hooks;
#endif

}  // namespace workspace_authority
