/*
 * Makes openat2(2) fail for this process and all it starts, as a container's or a service manager's seccomp filter does.
 *
 * As a program (FORBID_PROGRAM): forbid_openat2 ERRNO PROGRAM [ARGUMENT...]
 * As an addon: forbid(errno), for all threads of the running process.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { openat2_number = 437 };

static int forbid_openat2(int error) {
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, openat2_number, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ((unsigned)error & SECCOMP_RET_DATA)),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {.len = sizeof filter / sizeof *filter, .filter = filter};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
  return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
}

#ifdef FORBID_PROGRAM

int main(int count, char **arguments) {
  if (count < 3 || forbid_openat2(atoi(arguments[1])) != 0) return 125;
  execvp(arguments[2], arguments + 2);
  return 126;
}

#else

#include <node_api.h>

static napi_value forbid(napi_env env, napi_callback_info info) {
  size_t count = 1;
  napi_value argument;
  int32_t error = 0;
  napi_get_cb_info(env, info, &count, &argument, NULL, NULL);
  napi_get_value_int32(env, argument, &error);
  if (forbid_openat2(error) != 0) napi_throw_error(env, NULL, "the filter was not installed");
  return NULL;
}

NAPI_MODULE_INIT() {
  napi_value function;
  napi_create_function(env, "forbid", NAPI_AUTO_LENGTH, forbid, NULL, &function);
  napi_set_named_property(env, exports, "forbid", function);
  return exports;
}

#endif
