#include <fcntl.h>

#include <cerrno>

#include "syscalls.h"
#include "transaction/operations.h"

namespace workspace_authority {
namespace {

bool is_directory(const Slot& slot) {
  const auto facts = syscalls::statx_at(slot.directory(), slot.name(), transaction_facts);
  return facts && S_ISDIR(facts->stx_mode);
}

}  // namespace

Outcome make_directory(const Target& target, mode_t mode) {
  const auto slot = Slot::open(target);
  if (!slot) return Outcome::failed(slot.failure());
  const Status standing = slot->still_stands();
  if (!standing) return Outcome::failed(standing.failure());
  const Status made = syscalls::mkdirat(slot->directory(), slot->name(), mode);
  if (!made) {
    Outcome outcome = Outcome::failed(made.failure());
    // A call may report a failure of what it did; a directory that stays is empty, but it is said.
    outcome.in_place = !made.failed_with(EEXIST) && is_directory(slot.value());
    return outcome;
  }
  const Status still = slot->still_stands();
  if (still) return slot->made_durable(Outcome::of(Ending::committed));
  Outcome outcome = Outcome::failed(still.failure());
  // Removes empty directories only.
  outcome.in_place = !syscalls::unlinkat(slot->directory(), slot->name(), AT_REMOVEDIR);
  slot->sync_quietly();
  return outcome;
}

Outcome remove_directory(const Target& target) {
  const auto slot = Slot::open(target);
  if (!slot) return Outcome::failed(slot.failure());
  const Status standing = slot->still_stands();
  if (!standing) return Outcome::failed(standing.failure());
  const bool stood = is_directory(slot.value());
  const Status removed = syscalls::unlinkat(slot->directory(), slot->name(), AT_REMOVEDIR);
  if (removed) return slot->made_durable(Outcome::of(Ending::committed));
  Outcome outcome = Outcome::failed(removed.failure());
  outcome.in_place = stood && !is_directory(slot.value());
  return outcome;
}

}  // namespace workspace_authority
