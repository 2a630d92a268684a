#include "late_close.h"

#include <utility>
#include <vector>

namespace workspace_authority {
namespace {

std::vector<UniqueFd>& late_ones() {
  thread_local std::vector<UniqueFd> fds;
  return fds;
}

}  // namespace

void close_late(UniqueFd fd) { late_ones().push_back(std::move(fd)); }

void close_late_ones() { late_ones().clear(); }

}  // namespace workspace_authority
