#include "transaction/pinned.h"

#include <fcntl.h>

#include "kernel_abi.h"
#include "syscalls.h"

namespace workspace_authority {

Result<Pinned> Pinned::at(int directory, const char* name) {
  auto pin = syscalls::openat2(directory, name, O_PATH | O_NOFOLLOW, 0, kernel::resolve_beneath);
  if (!pin) return pin.failure();
  const auto facts = syscalls::statx_fd(pin->get(), transaction_facts);
  if (!facts) return facts.failure();
  return Pinned{pin.take(), Inode::of(facts.value()), facts->stx_mode};
}

}  // namespace workspace_authority
