#include <cerrno>

#include "kernel_abi.h"
#include "transaction/names.h"
#include "transaction/operations.h"
#include "transaction/pinned.h"

namespace workspace_authority {

Outcome unlink_if_same(const Target& target, const Inode& inode) {
  const auto slot = Slot::open(target);
  if (slot.failed_with(ENOENT)) return Outcome::of(Ending::conflict);
  if (!slot) return Outcome::failed(slot.failure());
  const auto unlinked = unlink_if(slot->directory(), slot->name(), inode);
  if (!unlinked) return Outcome::failed(unlinked.failure());
  if (!unlinked.value()) return Outcome::of(Ending::conflict);
  return slot->made_durable(Outcome::of(Ending::committed));
}

Outcome exchange_names(const Target& target, const std::string& other_name) {
  const auto slot = Slot::open(target);
  if (!slot) return Outcome::failed(slot.failure());
  const auto other = Pinned::at(slot->directory(), other_name.c_str());
  if (!other) return Outcome::failed(other.failure());
  const Status standing = slot->still_stands();
  if (!standing) return Outcome::failed(standing.failure());
  const Status exchanged = move_name(slot->directory(), other_name.c_str(), slot->directory(), slot->name(),
                                     kernel::rename_exchange, other->inode);
  if (!exchanged) return Outcome::failed(exchanged.failure());
  return slot->made_durable(Outcome::of(Ending::committed));
}

}  // namespace workspace_authority
