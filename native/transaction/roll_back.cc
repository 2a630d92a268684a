#include "transaction/roll_back.h"

#include <cerrno>
#include <utility>

#include "kernel_abi.h"
#include "syscalls.h"
#include "transaction/names.h"
#include "transaction/pinned.h"

namespace workspace_authority {
namespace {

// Each round needs somebody to rename within the microseconds since the last one; a tight loop of renames loses against
// this within a few.
constexpr int rounds = 32;

RolledBack restored_keeping(std::vector<std::string> kept) { return RolledBack{true, std::move(kept), {}}; }

}  // namespace

RolledBack roll_back(const Slot& slot, const std::string& temporary_name, const Inode& ours) {
  auto displaced = Pinned::at(slot.directory(), temporary_name.c_str());
  if (!displaced) return RolledBack{false, keep_aside(slot, temporary_name), displaced.failure()};
  // Where our own file stands, or last stood; later, the version that the round before put under the name.
  Pinned put_before{UniqueFd(), ours};
  for (int round = 0; round < rounds; ++round) {
    const Status exchanged = move_name(slot.directory(), temporary_name.c_str(), slot.directory(), slot.name(),
                                       kernel::rename_exchange, displaced->inode);
    if (exchanged.failed_with(ENOENT)) {
      // Somebody deleted the name. They may have meant what we hold displaced, so it does not come back by itself.
      return restored_keeping(keep_aside(slot, temporary_name));
    }
    if (!exchanged && round == 0) return RolledBack{false, keep_aside(slot, temporary_name), exchanged.failure()};
    if (!exchanged) break;

    auto came_out = Pinned::at(slot.directory(), temporary_name.c_str());
    if (!came_out) break;
    if (came_out->inode == ours) {
      const auto unlinked = unlink_if(slot.directory(), temporary_name.c_str(), ours);
      return restored_keeping(unlinked ? std::vector<std::string>() : keep_aside(slot, temporary_name));
    }
    if (came_out->inode == put_before.inode) break;
    put_before = displaced.take();
    displaced = came_out.take();
  }
  return restored_keeping(keep_aside(slot, temporary_name));
}

}  // namespace workspace_authority
