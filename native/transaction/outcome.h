#pragma once

#include <string>
#include <utility>
#include <vector>

#include "regular_file.h"
#include "result.h"

namespace workspace_authority {

enum class Ending {
  committed,
  /** The base was not (or no longer) what stood there; foreign content stands under the name, or nothing. */
  conflict,
  /** The name was taken; nothing was changed. */
  exists,
  failed,
};

/** How a write transaction ended. Whatever the ending, the name leads to old or new content as a whole. */
struct Outcome {
  Ending ending = Ending::failed;
  /** Of the new file, where there is one and it was committed. */
  FileFacts facts;
  /** Names in the target's directory of files that the transaction leaves behind. */
  std::vector<std::string> kept;
  bool lease_checked = false;

  /** Meaningful when failed. */
  Failure failure;
  /** Failed, but the new state stands under the name: it could not be made durable, or not be taken back. */
  bool in_place = false;

  static Outcome of(Ending ending) {
    Outcome outcome;
    outcome.ending = ending;
    return outcome;
  }
  static Outcome failed(const Failure& failure) {
    Outcome outcome;
    outcome.failure = failure;
    return outcome;
  }

  Outcome&& keeping(std::vector<std::string> names) && {
    for (auto& name : names) kept.push_back(std::move(name));
    return std::move(*this);
  }
};

}  // namespace workspace_authority
