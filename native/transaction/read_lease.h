#pragma once

#include "result.h"

namespace workspace_authority {

/**
 * A read lease (fcntl(2), F_SETLEASE with F_RDLCK) on the file that is about to be replaced. It can be had only while
 * nobody has the file open for writing, by descriptor or by mapping, and while it is held an open for writing waits.
 * So it answers both "is there a writer" and, at the end, "did one come".
 */
class ReadLease {
 public:
  ReadLease() = default;
  ReadLease(const ReadLease&) = delete;
  ReadLease& operator=(const ReadLease&) = delete;
  ~ReadLease() { release(); }

  /**
   * `fd` must be open for reading only. WA_WRITER_OPEN when somebody has the file open for writing. Succeeds without a
   * lease where the kernel gives none: the file is not ours and CAP_LEASE is missing, or its file system has no leases.
   */
  Status take(int fd);
  [[nodiscard]] bool held() const { return fd_ >= 0; }
  /** Whether the lease is held and somebody waits to open the file for writing. */
  [[nodiscard]] Result<bool> disturbed() const;
  void release();

 private:
  int fd_ = -1;
};

}  // namespace workspace_authority
