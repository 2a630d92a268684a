#include "transaction/slot.h"

#include "syscalls.h"

namespace workspace_authority {

Result<Slot> Slot::open(const Target& target) {
  auto parent = open_parent(target.root, target.path, target.guard);
  if (!parent) return parent.failure();
  const auto facts = syscalls::statx_fd(parent->directory.get(), transaction_facts);
  if (!facts) return facts.failure();
  return Slot(target, parent.take(), Inode::of(facts.value()));
}

Status Slot::still_stands() const {
  const auto stands = parent_stands(target_->root, target_->path, parent_, target_->guard);
  if (!stands) return stands.failure();
  if (!stands.value()) return Failure::refused(Refusal::parent_moved);
  return Done{};
}

Outcome Slot::made_durable(Outcome outcome) const {
  const Status synced = syscalls::fsync(directory());
  if (synced) return outcome;
  Outcome failed = Outcome::failed(synced.failure());
  failed.in_place = true;
  return std::move(failed).keeping(std::move(outcome.kept));
}

void Slot::sync_quietly() const { static_cast<void>(syscalls::fsync(directory())); }

}  // namespace workspace_authority
