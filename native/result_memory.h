#pragma once

#include <node_api.h>

#include <cstddef>

namespace workspace_authority {

/**
 * Memory for the results of small reads. A block of its own for each would cost more than the read: every allocation
 * and its release by the garbage collector take the heap's lock on two threads. So many results share one block, as
 * those of `Buffer.allocUnsafe` do, and the collector frees a block once none of them is left.
 */
class ResultMemory {
 public:
  /** Largest result that shares a block; at most a sixteenth of a block is wasted at its end. */
  static constexpr std::size_t largest = std::size_t{8} * 1024;

  /** Blocks come from `source() -> Uint8Array`, which must cover the whole of its memory and is asked again for each.
   */
  void use_source(napi_env env, napi_value source);

  /** At least `size` (at most `largest` + 1) bytes at the end of the current block; null with a pending exception. */
  char* reserve(napi_env env, std::size_t size);
  /** The first `size` of the bytes last reserved, as a Uint8Array. */
  napi_value commit(napi_env env, std::size_t size);
  /** Clears the bytes last reserved: what was read into them is not for those who share the block. */
  void discard();

 private:
  bool renew(napi_env env);

  napi_ref source_ = nullptr;
  napi_ref block_ = nullptr;
  napi_value memory_ = nullptr;
  char* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t used_ = 0;
  std::size_t reserved_ = 0;
};

/** `useBlocksFrom` of the addon: see src/native/load.ts. */
napi_value use_blocks_from(napi_env env, napi_callback_info info);

}  // namespace workspace_authority
