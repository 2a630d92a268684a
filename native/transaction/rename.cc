#include <cerrno>

#include "kernel_abi.h"
#include "syscalls.h"
#include "transaction/names.h"
#include "transaction/operations.h"
#include "transaction/pinned.h"

namespace workspace_authority {
namespace {

/** After the rename: the object that was checked is the one that moved, from where and to where it should. */
Status verify(const Slot& from, const Slot& to, const Pinned& object) {
  const auto moved = syscalls::statx_at(to.directory(), to.name(), transaction_facts);
  if (!moved) return moved.failure();
  // Somebody put another object under the name after it was checked; the caller may try again.
  if (Inode::of(moved.value()) != object.inode) return Failure{EAGAIN, "renameat2"};
  const Status standing = from.still_stands();
  return standing ? to.still_stands() : standing;
}

Outcome undo(const Slot& from, const Slot& to, const Failure& failure) {
  Outcome outcome = Outcome::failed(failure);
  const auto moved = Pinned::at(to.directory(), to.name());
  const Status back = moved ? move_name(to.directory(), to.name(), from.directory(), from.name(),
                                        kernel::rename_noreplace, moved->inode)
                            : Status(moved.failure());
  outcome.in_place = !back;
  to.sync_quietly();
  from.sync_quietly();
  return outcome;
}

}  // namespace

Outcome rename_no_replace(const Target& from, const Target& to) {
  const auto source = Slot::open(from);
  if (!source) return Outcome::failed(source.failure());
  const auto destination = Slot::open(to);
  if (!destination) return Outcome::failed(destination.failure());
  const auto object = Pinned::at(source->directory(), source->name());
  if (!object) return Outcome::failed(object.failure());
  const Status standing = source->still_stands();
  if (!standing) return Outcome::failed(standing.failure());
  const Status awaiting = destination->still_stands();
  if (!awaiting) return Outcome::failed(awaiting.failure());

  const Status moved = move_name(source->directory(), source->name(), destination->directory(), destination->name(),
                                 kernel::rename_noreplace, object->inode);
  if (!moved) return Outcome::failed(moved.failure());
  const Status verified = verify(source.value(), destination.value(), object.value());
  if (!verified) return undo(source.value(), destination.value(), verified.failure());
  Outcome outcome = destination->made_durable(Outcome::of(Ending::committed));
  if (outcome.ending != Ending::committed || source->same_directory_as(destination.value())) return outcome;
  return source->made_durable(std::move(outcome));
}

}  // namespace workspace_authority
