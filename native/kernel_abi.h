#pragma once

#include <cstdint>

/**
 * Kernel constants that the headers of older distributions lack. Values are the kernel's user space interface and never
 * change; source: include/uapi/linux of Linux 6.18.
 */
namespace workspace_authority::kernel {

/** struct open_how of openat2(2). */
struct OpenHow {
  std::uint64_t flags;
  std::uint64_t mode;
  std::uint64_t resolve;
};

constexpr long sys_openat2 = 437;  // the same number on every architecture

constexpr long sys_faccessat2 = 439;  // Linux 5.8, the same number on every architecture

constexpr std::uint64_t resolve_no_xdev = 0x01;
constexpr std::uint64_t resolve_no_magiclinks = 0x02;
constexpr std::uint64_t resolve_no_symlinks = 0x04;
constexpr std::uint64_t resolve_beneath = 0x08;
constexpr std::uint64_t resolve_cached = 0x20;  // Linux 5.12

constexpr unsigned statx_mnt_id = 0x1000;         // Linux 5.8
constexpr unsigned statx_mnt_id_unique = 0x4000;  // Linux 6.8

constexpr int at_handle_fid = 0x200;  // Linux 6.5, name_to_handle_at

constexpr unsigned rename_noreplace = 1;
constexpr unsigned rename_exchange = 2;

constexpr int rwf_nowait = 0x08;  // Linux 4.14, preadv2

constexpr int madv_populate_write = 23;  // Linux 5.14

}  // namespace workspace_authority::kernel
