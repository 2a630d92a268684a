#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

#include "kernel_abi.h"
#include "syscalls.h"
#include "transaction/content.h"
#include "transaction/metadata.h"
#include "transaction/names.h"
#include "transaction/operations.h"
#include "transaction/read_lease.h"
#include "transaction/roll_back.h"
#include "transaction/temporary_file.h"

namespace workspace_authority {
namespace {

/** The new file, complete and durable, and only then with a name. */
Status prepare(const Slot& slot, const BaseVersion& base, const TemporaryFile& temporary, const std::string& bytes) {
  const Status written = write_whole(temporary.fd(), bytes);
  if (!written) return written;
  const Status carried = carry_metadata(base.fd(), base.facts(), temporary.fd(), temporary.facts());
  if (!carried) return carried;
  // Before the exchange: ext4 allocates delayed blocks when a rename replaces a file, but not when it exchanges two, so
  // a power cut would leave the name with an empty file.
  const Status synced = syscalls::fdatasync(temporary.fd());
  return synced ? temporary.publish(slot) : synced;
}

/** Undoes the exchange; `outcome` is what the transaction then ends with, unless our content could not be taken back.
 */
Outcome undo(const Slot& slot, const TemporaryFile& temporary, Outcome outcome) {
  RolledBack rolled_back = roll_back(slot, temporary.name(), temporary.inode());
  if (!rolled_back.restored) {
    if (outcome.ending != Ending::failed) outcome = Outcome::failed(rolled_back.failure);
    outcome.in_place = true;
  }
  slot.sync_quietly();
  return std::move(outcome).keeping(std::move(rolled_back.kept));
}

/** After the exchange: proves that it displaced the base and happened where it should; else takes it back. */
Outcome settle(const Slot& slot, const BaseVersion& base, const TemporaryFile& temporary, ReadLease& lease) {
  const auto displaced = base.found_at(slot, temporary.name());
  if (!displaced) return undo(slot, temporary, Outcome::failed(displaced.failure()));
  if (!displaced->has_value()) return undo(slot, temporary, Outcome::of(Ending::conflict));
  const Status standing = slot.still_stands();
  if (!standing) return undo(slot, temporary, Outcome::failed(standing.failure()));
  const auto facts = regular_facts(temporary.fd());
  if (!facts) return undo(slot, temporary, Outcome::failed(facts.failure()));

  Outcome outcome = Outcome::of(Ending::committed);
  outcome.facts = facts.value();
  outcome.lease_checked = lease.held();
  if (lease.undisturbed()) {
    const auto unlinked = unlink_if(slot.directory(), temporary.name().c_str(), *displaced.value());
    if (!unlinked) outcome.kept = keep_aside(slot, temporary.name());
  } else {
    // A writer has opened the old file and waits for our lease: what it will write must stay reachable.
    outcome.kept = keep_aside(slot, temporary.name());
  }
  lease.release();
  return slot.made_durable(std::move(outcome));
}

/** From the new file's creation on; `create` is one of the two ways that TemporaryFile has. */
template <typename Create>
Outcome replace_by(Create create, const Slot& slot, const BaseVersion& base, const std::string& bytes,
                   const std::string& temporary_name) {
  const auto created = create(slot, temporary_name, 0600);
  if (!created) return creation_failed(slot, temporary_name, created.failure());
  const TemporaryFile& temporary = created.value();
  const auto abandon = [&](Outcome outcome) { return temporary.abandon(slot, std::move(outcome)); };

  const Status prepared = prepare(slot, base, temporary, bytes);
  if (!prepared) return abandon(Outcome::failed(prepared.failure()));
  ReadLease lease;
  const Status unopened = lease.take(base.fd());
  if (!unopened) return abandon(Outcome::failed(unopened.failure()));
  const Status standing = slot.still_stands();
  if (!standing) return abandon(Outcome::failed(standing.failure()));
  const auto named = base.still_named(slot);
  if (!named) return abandon(Outcome::failed(named.failure()));
  if (!named.value()) return abandon(Outcome::of(Ending::conflict));

  const Status exchanged = move_name(slot.directory(), temporary.name().c_str(), slot.directory(), slot.name(),
                                     kernel::rename_exchange, temporary.inode());
  if (exchanged.failed_with(ENOENT)) return abandon(Outcome::of(Ending::conflict));
  if (!exchanged) return abandon(Outcome::failed(exchanged.failure()));
  return settle(slot, base, temporary, lease);
}

/** Whether nothing but the way in which the new file was made stood against the transaction. */
bool needs_named_file(const Outcome& outcome) {
  if (outcome.ending != Ending::failed || outcome.failure.error != EOPNOTSUPP || !outcome.kept.empty()) return false;
  const std::string_view syscall = outcome.failure.syscall;
  return outcome.failure.refusal == Refusal::none && (syscall == "openat2" || syscall == "linkat");
}

}  // namespace

Outcome replace_file(const Target& target, const BaseRequest& request, const std::string& bytes,
                     const std::string& temporary_name) {
  const auto slot = Slot::open(target);
  if (!slot) return Outcome::failed(slot.failure());
  const auto opened = BaseVersion::open(slot.value(), request);
  if (!opened) return Outcome::failed(opened.failure());
  if (!opened->has_value()) return Outcome::of(Ending::conflict);
  const BaseVersion& base = *opened.value();
  // A rename needs no permission on the file itself; a read-only file is one all the same.
  const Status writable = syscalls::may_access(base.fd(), W_OK);
  if (!writable) return Outcome::failed(writable.failure());

  Outcome outcome = replace_by(TemporaryFile::create_unnamed, slot.value(), base, bytes, temporary_name);
  if (!needs_named_file(outcome)) return outcome;
  return replace_by(TemporaryFile::create_named, slot.value(), base, bytes, temporary_name);
}

}  // namespace workspace_authority
