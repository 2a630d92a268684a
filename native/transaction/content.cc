#include "transaction/content.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "syscalls.h"

namespace workspace_authority {
namespace {

constexpr std::size_t chunk = 65536;

/** One buffer a thread, since fresh memory costs more than the read that fills it. */
char* thread_buffer() {
  thread_local const std::unique_ptr<char[]> buffer(new char[chunk]);
  return buffer.get();
}

}  // namespace

Result<bool> holds_exactly(int fd, std::string_view bytes) {
  char* buffer = thread_buffer();
  std::size_t position = 0;
  while (true) {
    // One byte more than expected, so that a longer file shows itself without a call of its own.
    const std::size_t wanted = std::min(chunk, bytes.size() - position + 1);
    const auto count = syscalls::pread(fd, buffer, wanted, position);
    if (!count) return count.failure();
    if (count.value() == 0) return position == bytes.size();
    if (count.value() > bytes.size() - position) return false;
    if (std::memcmp(buffer, bytes.data() + position, count.value()) != 0) return false;
    position += count.value();
  }
}

Status write_whole(int fd, std::string_view bytes) {
  std::size_t position = 0;
  while (position < bytes.size()) {
    const auto count = syscalls::pwrite(fd, bytes.data() + position, bytes.size() - position, position);
    if (!count) return count.failure();
    // pwrite(2) of a regular file never answers 0 for a positive length; a file system that does would loop us for
    // ever.
    if (count.value() == 0) return Failure{EIO, "pwrite64"};
    position += count.value();
  }
  return Done{};
}

}  // namespace workspace_authority
