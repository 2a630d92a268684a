#include <fcntl.h>

#include <cerrno>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>

#include "kernel_abi.h"
#include "syscalls.h"
#include "transaction/content.h"
#include "transaction/operations.h"
#include "transaction/pinned.h"

namespace workspace_authority {
namespace {

struct Sample {
  const char* name;
  std::string_view content;
};
constexpr Sample first{"first", "the first file"};
constexpr Sample second{"second", "another file"};

Result<std::string> unguessable_name() {
  unsigned char bytes[16];
  const Status random = syscalls::getrandom(bytes, sizeof bytes);
  if (!random) return random.failure();
  std::string name = ".wa-probe-";
  for (const unsigned char byte : bytes) {
    char digits[3];
    static_cast<void>(std::snprintf(digits, sizeof digits, "%02x", byte));
    name += digits;
  }
  return name;
}

Result<Inode> write_sample(int directory, const Sample& sample) {
  const auto fd = syscalls::openat2(directory, sample.name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600,
                                    kernel::resolve_beneath);
  if (!fd) return fd.failure();
  const Status written = write_whole(fd->get(), sample.content);
  if (!written) return written.failure();
  const auto facts = syscalls::statx_fd(fd->get(), transaction_facts);
  if (!facts) return facts.failure();
  return Inode::of(facts.value());
}

Status expect(int directory, const char* name, const Inode& inode, std::string_view content) {
  const auto fd = syscalls::openat2(directory, name, O_RDONLY | O_NOFOLLOW, 0, kernel::resolve_beneath);
  if (!fd) return fd.failure();
  const auto facts = syscalls::statx_fd(fd->get(), transaction_facts);
  if (!facts) return facts.failure();
  const auto same = holds_exactly(fd->get(), content);
  if (!same) return same.failure();
  // Some shared-folder file systems answer success and mix the two files up.
  if (!same.value() || Inode::of(facts.value()) != inode) return Failure{EIO, "renameat2"};
  return Done{};
}

Status exchange_in(int directory) {
  const auto first_inode = write_sample(directory, first);
  if (!first_inode) return first_inode.failure();
  const auto second_inode = write_sample(directory, second);
  if (!second_inode) return second_inode.failure();
  const Status exchanged = syscalls::renameat2(directory, first.name, directory, second.name, kernel::rename_exchange);
  if (!exchanged) return exchanged;
  const Status one = expect(directory, first.name, second_inode.value(), second.content);
  return one ? expect(directory, second.name, first_inode.value(), first.content) : one;
}

}  // namespace

Outcome probe_exchange(const HeldDirectory& root) {
  const auto name = unguessable_name();
  if (!name) return Outcome::failed(name.failure());
  const Status made = syscalls::mkdirat(root.fd(), name->c_str(), 0700);
  if (!made) {
    // Removes an empty directory that was made in spite of the answer; nobody else can know the name.
    static_cast<void>(syscalls::unlinkat(root.fd(), name->c_str(), AT_REMOVEDIR));
    return Outcome::failed(made.failure());
  }
  Status probed = Done{};
  {
    const auto directory =
        syscalls::openat2(root.fd(), name->c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0, kernel::resolve_beneath);
    probed = directory ? exchange_in(directory->get()) : Status(directory.failure());
    if (directory) {
      static_cast<void>(syscalls::unlinkat(directory->get(), first.name, 0));
      static_cast<void>(syscalls::unlinkat(directory->get(), second.name, 0));
    }
  }
  const Status removed = syscalls::unlinkat(root.fd(), name->c_str(), AT_REMOVEDIR);
  if (!probed) return Outcome::failed(probed.failure());
  if (!removed) return Outcome::failed(removed.failure());
  return Outcome::of(Ending::committed);
}

}  // namespace workspace_authority
