#pragma once

#include "file_facts.h"
#include "held_descriptor.h"
#include "resolve.h"
#include "result.h"
#include "unique_fd.h"

namespace workspace_authority {

struct OpenFile {
  UniqueFd fd;
  FileFacts facts;
};

/**
 * Opens a regular file for reading, or refuses with WA_NOT_REGULAR (EISDIR is not used). Opening a FIFO releases a
 * waiting writer and opening a device may do anything, so the object is looked at through O_PATH first, and what was
 * opened then is checked again. Never waits for a FIFO, a terminal or a lease. Cached only: EAGAIN on a foreign file
 * system, which asks somebody for every opening. `path` is relative to `directory`, which
 * is the root itself or was opened beneath it.
 */
Result<OpenFile> open_regular(int directory, const HeldDirectory& root, const char* path, Lookup lookup);

/**
 * Opens a name that was a regular file when last seen. What it is now, the caller must ask `regular_facts` before it
 * gives anything of the content away.
 */
Result<UniqueFd> open_known_regular(int directory, const HeldDirectory& root, const char* name, Lookup lookup);

/** Facts of an open regular file; WA_NOT_REGULAR for anything else. */
Result<FileFacts> regular_facts(int fd, Lookup lookup = Lookup::may_block);

}  // namespace workspace_authority
