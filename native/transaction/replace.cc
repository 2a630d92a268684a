#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <utility>

#include "kernel_abi.h"
#include "late_close.h"
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

/** One attempt, with a new file of one kind. */
class Replacement {
 public:
  Replacement(const Slot& slot, const BaseVersion& base, const Metadata& metadata, TemporaryFile temporary)
      : slot_(slot), base_(base), metadata_(metadata), temporary_(std::move(temporary)) {}

  Outcome run(const std::string& bytes) {
    const Status prepared = prepare(bytes);
    if (!prepared) return abandon(Outcome::failed(prepared.failure()));
    const Status unopened = lease_.take(base_.fd());
    if (!unopened) return abandon(Outcome::failed(unopened.failure()));
    const Status standing = slot_.still_stands();
    if (!standing) return abandon(Outcome::failed(standing.failure()));
    const Status carried = metadata_unchanged();
    if (!carried) return abandon(Outcome::failed(carried.failure()));
    const auto named = base_.still_named(slot_);
    if (!named) return abandon(Outcome::failed(named.failure()));
    if (!named.value()) return abandon(Outcome::of(Ending::conflict));

    const Status exchanged = move_name(slot_.directory(), temporary_.name().c_str(), slot_.directory(), slot_.name(),
                                       kernel::rename_exchange, temporary_.inode());
    if (exchanged.failed_with(ENOENT)) return abandon(Outcome::of(Ending::conflict));
    if (!exchanged) return abandon(Outcome::failed(exchanged.failure()));
    return settle();
  }

 private:
  /** The new file, complete and durable, and only then with a name. */
  Status prepare(const std::string& bytes) {
    const Status written = write_whole(temporary_.fd(), bytes);
    if (!written) return written;
    const Status carried = metadata_.apply_to(temporary_.fd(), temporary_.facts());
    if (!carried) return carried;
    // Before the exchange: ext4 allocates delayed blocks when a rename replaces a file, but not when it exchanges two,
    // so a power cut would leave the name with an empty file.
    const Status synced = syscalls::fdatasync(temporary_.fd());
    return synced ? temporary_.publish(slot_) : synced;
  }

  /** EAGAIN when what was carried over is no longer what the base has. */
  Status metadata_unchanged() {
    const auto now = Metadata::read(base_.fd());
    if (!now) return now.failure();
    if (!(now.value() == metadata_)) return Failure{EAGAIN, "statx"};
    return Done{};
  }

  Outcome abandon(Outcome outcome) { return temporary_.abandon(slot_, std::move(outcome)); }

  /** After the exchange: proves that it displaced the base and happened where it should; else takes it back. */
  Outcome settle() {
    const auto displaced = base_.found_at(slot_, temporary_.name());
    if (!displaced) return undo(Outcome::failed(displaced.failure()));
    if (!displaced->has_value()) return undo(Outcome::of(Ending::conflict));
    const Status carried = metadata_unchanged();
    if (!carried) return undo(Outcome::failed(carried.failure()));
    const Status standing = slot_.still_stands();
    if (!standing) return undo(Outcome::failed(standing.failure()));
    const auto facts = regular_facts(temporary_.fd());
    if (!facts) return undo(Outcome::failed(facts.failure()));

    Outcome outcome = Outcome::of(Ending::committed);
    outcome.facts = facts.value();
    outcome.lease_checked = lease_.held();
    const auto disturbed = lease_.disturbed();
    if (disturbed && !disturbed.value()) {
      const auto unlinked = unlink_if(slot_.directory(), temporary_.name().c_str(), *displaced.value());
      if (!unlinked) outcome.kept = keep_aside(slot_, temporary_.name());
    } else {
      // A writer has opened the old file and waits for our lease (or may): what it will write must stay reachable.
      outcome.kept = keep_aside(slot_, temporary_.name());
    }
    lease_.release();
    return slot_.made_durable(std::move(outcome));
  }

  /** Undoes the exchange; the transaction then ends with `outcome`, unless our content could not be taken back. */
  Outcome undo(Outcome outcome) {
    RolledBack rolled_back = roll_back(slot_, temporary_.name(), temporary_.inode());
    if (!rolled_back.restored) {
      if (outcome.ending != Ending::failed) outcome = Outcome::failed(rolled_back.failure);
      outcome.in_place = true;
    }
    slot_.sync_quietly();
    return std::move(outcome).keeping(std::move(rolled_back.kept));
  }

  const Slot& slot_;
  const BaseVersion& base_;
  const Metadata& metadata_;
  TemporaryFile temporary_;
  ReadLease lease_;
};

}  // namespace

Outcome replace_file(const Target& target, const BaseRequest& request, const std::string& bytes,
                     const std::string& temporary_name) {
  const auto slot = Slot::open(target);
  if (!slot) return Outcome::failed(slot.failure());
  auto opened = BaseVersion::open(slot.value(), request);
  if (!opened) return Outcome::failed(opened.failure());
  std::optional<BaseVersion> found = opened.take();
  if (!found.has_value()) return Outcome::of(Ending::conflict);
  BaseVersion& base = *found;
  // A rename needs no permission on the file itself; a read-only file is one all the same.
  const Status writable = syscalls::may_access(base.fd(), W_OK);
  if (!writable) return Outcome::failed(writable.failure());
  const auto metadata = Metadata::read(base.fd());
  if (!metadata) return Outcome::failed(metadata.failure());

  Outcome outcome = with_temporary_file(slot.value(), temporary_name, 0600, [&](TemporaryFile temporary) {
    return Replacement(slot.value(), base, metadata.value(), std::move(temporary)).run(bytes);
  });
  close_late(base.take_fd());
  return outcome;
}

}  // namespace workspace_authority
