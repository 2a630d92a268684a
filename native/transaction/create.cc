#include <cerrno>
#include <utility>

#include "syscalls.h"
#include "transaction/content.h"
#include "transaction/names.h"
#include "transaction/operations.h"
#include "transaction/temporary_file.h"

namespace workspace_authority {
namespace {

/** After the rename: proves that it happened where it should; else takes the new file back. */
Outcome settle(const Slot& slot, const TemporaryFile& temporary) {
  Outcome outcome = Outcome::of(Ending::committed);
  const auto facts = regular_facts(temporary.fd());
  const Status standing = facts ? slot.still_stands() : Status(facts.failure());
  if (!standing) {
    outcome = Outcome::failed(standing.failure());
    outcome.in_place = !unlink_if(slot.directory(), slot.name(), temporary.inode());
    slot.sync_quietly();
    return outcome;
  }
  outcome.facts = facts.value();
  return slot.made_durable(std::move(outcome));
}

/** One attempt, with a new file of one kind. */
Outcome create_with(const Slot& slot, const TemporaryFile& temporary, const std::string& bytes) {
  const auto abandon = [&](Outcome outcome) { return temporary.abandon(slot, std::move(outcome)); };
  const Status written = write_whole(temporary.fd(), bytes);
  if (!written) return abandon(Outcome::failed(written.failure()));
  const Status synced = syscalls::fdatasync(temporary.fd());
  if (!synced) return abandon(Outcome::failed(synced.failure()));
  const Status standing = slot.still_stands();
  if (!standing) return abandon(Outcome::failed(standing.failure()));

  const Status moved = temporary.take_name(slot);
  if (moved.failed_with(EEXIST)) return abandon(Outcome::of(Ending::exists));
  if (!moved) return abandon(Outcome::failed(moved.failure()));
  return settle(slot, temporary);
}

}  // namespace

Outcome create_file(const Target& target, const std::string& bytes, mode_t mode, const std::string& temporary_name) {
  const auto slot = Slot::open(target);
  if (!slot) return Outcome::failed(slot.failure());
  // Spares writing a file that cannot take the name; the rename or link below is what decides.
  const auto taken = syscalls::statx_at(slot->directory(), slot->name(), transaction_facts);
  if (taken) return Outcome::of(Ending::exists);
  if (!taken.failed_with(ENOENT)) return Outcome::failed(taken.failure());
  return with_temporary_file(slot.value(), temporary_name, mode,
                             [&](TemporaryFile temporary) { return create_with(slot.value(), temporary, bytes); });
}

}  // namespace workspace_authority
