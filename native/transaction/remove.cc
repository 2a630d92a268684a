#include <cerrno>
#include <utility>

#include "kernel_abi.h"
#include "syscalls.h"
#include "transaction/names.h"
#include "transaction/operations.h"
#include "transaction/read_lease.h"

namespace workspace_authority {
namespace {

/** Gives back what was moved aside, unless the name has been taken meanwhile: then it is kept beside. */
Outcome put_back(const Slot& slot, const std::string& aside, Outcome outcome) {
  const auto facts = syscalls::statx_at(slot.directory(), aside.c_str(), transaction_facts);
  const Status moved = facts ? move_name(slot.directory(), aside.c_str(), slot.directory(), slot.name(),
                                         kernel::rename_noreplace, Inode::of(facts.value()))
                             : Status(facts.failure());
  if (!moved) {
    const bool taken = moved.failed_with(EEXIST);
    if (!taken && outcome.ending != Ending::failed) outcome = Outcome::failed(moved.failure());
    outcome.in_place = !taken;
    outcome = std::move(outcome).keeping(keep_aside(slot, aside));
  }
  slot.sync_quietly();
  return outcome;
}

}  // namespace

Outcome remove_file(const Target& target, const BaseRequest& request, const std::string& temporary_name) {
  const auto slot = Slot::open(target);
  if (!slot) return Outcome::failed(slot.failure());
  const auto opened = BaseVersion::open(slot.value(), request);
  if (!opened) return Outcome::failed(opened.failure());
  if (!opened->has_value()) return Outcome::of(Ending::conflict);
  const BaseVersion& base = *opened.value();

  ReadLease lease;
  const Status unopened = lease.take(base.fd());
  if (!unopened) return Outcome::failed(unopened.failure());
  const Status standing = slot->still_stands();
  if (!standing) return Outcome::failed(standing.failure());
  const auto named = base.still_named(slot.value());
  if (!named) return Outcome::failed(named.failure());
  if (!named.value()) return Outcome::of(Ending::conflict);

  const Status moved = move_name(slot->directory(), slot->name(), slot->directory(), temporary_name.c_str(),
                                 kernel::rename_noreplace, Inode::of(base.facts()));
  if (moved.failed_with(ENOENT)) return Outcome::of(Ending::conflict);
  if (!moved) return Outcome::failed(moved.failure());

  const auto aside = base.found_at(slot.value(), temporary_name);
  if (!aside) return put_back(slot.value(), temporary_name, Outcome::failed(aside.failure()));
  if (!aside->has_value()) return put_back(slot.value(), temporary_name, Outcome::of(Ending::conflict));
  const Status still = slot->still_stands();
  if (!still) return put_back(slot.value(), temporary_name, Outcome::failed(still.failure()));
  // A writer that waits for our lease would write into a file without a name.
  const auto disturbed = lease.disturbed();
  if (!disturbed) return put_back(slot.value(), temporary_name, Outcome::failed(disturbed.failure()));
  if (disturbed.value()) {
    return put_back(slot.value(), temporary_name, Outcome::failed(Failure::refused(Refusal::writer_open)));
  }
  const auto unlinked = unlink_if(slot->directory(), temporary_name.c_str(), *aside.value());
  if (!unlinked) return put_back(slot.value(), temporary_name, Outcome::failed(unlinked.failure()));
  lease.release();
  return slot->made_durable(Outcome::of(Ending::committed));
}

}  // namespace workspace_authority
