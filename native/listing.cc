#include "listing.h"

#include <dirent.h>
#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <memory>

#include "identity.h"
#include "links.h"
#include "resolve.h"
#include "syscalls.h"
#include "values.h"

namespace workspace_authority {
namespace {

enum EntryType : std::uint8_t { file = 0, directory = 1, symlink = 2, other = 3 };
enum LinkEnd : std::uint8_t { no_link = 0, inside = 1, outside = 2, broken = 3 };

constexpr std::uint64_t statx_attr_mount_root = 0x2000;  // Linux 5.8

/** The fixed part of struct linux_dirent64 (getdents64(2)); the name follows. */
struct DirentHeader {
  std::uint64_t inode;
  std::int64_t offset;
  std::uint16_t length;
  std::uint8_t type;
};
constexpr std::size_t dirent_name_offset = 19;

/** NUL-terminated names, as an arena and the places in it. */
struct Names {
  std::string bytes;
  std::vector<std::size_t> starts;

  [[nodiscard]] const char* at(std::size_t start) const { return bytes.c_str() + start; }
};

Status read_names(int directory, const std::string& after, Names& names) {
  constexpr std::size_t capacity = std::size_t{64} * 1024;
  const std::unique_ptr<char[]> buffer(new char[capacity]);
  while (true) {
    const auto length = syscalls::getdents64(directory, buffer.get(), capacity);
    if (!length) return length.failure();
    if (length.value() == 0) return Done{};
    for (std::size_t offset = 0; offset < length.value();) {
      DirentHeader header;
      std::memcpy(&header, buffer.get() + offset, dirent_name_offset);
      const char* name = buffer.get() + offset + dirent_name_offset;
      offset += header.length;
      if (std::strcmp(name, ".") == 0 || std::strcmp(name, "..") == 0) continue;
      if (!after.empty() && std::strcmp(name, after.c_str()) <= 0) continue;
      names.starts.push_back(names.bytes.size());
      names.bytes.append(name, std::strlen(name) + 1);
    }
  }
}

/** Sorts by bytes (strcmp(3) compares unsigned) and keeps the first `limit`; true when that cut some off. */
bool keep_first(Names& names, std::size_t limit) {
  const auto before = [&](std::size_t a, std::size_t b) { return std::strcmp(names.at(a), names.at(b)) < 0; };
  auto& starts = names.starts;
  const bool more = starts.size() > limit;
  if (more) {
    std::nth_element(starts.begin(), starts.begin() + static_cast<std::ptrdiff_t>(limit), starts.end(), before);
    starts.resize(limit);
  }
  std::sort(starts.begin(), starts.end(), before);
  return more;
}

EntryType type_of(const struct statx& facts, bool allow_mounts) {
  // Something is mounted on the name, and the root does not let anybody in.
  if (!allow_mounts && (facts.stx_attributes & statx_attr_mount_root) != 0) return other;
  if (S_ISREG(facts.stx_mode)) return file;
  if (S_ISDIR(facts.stx_mode)) return directory;
  return S_ISLNK(facts.stx_mode) ? symlink : other;
}

class Lister {
 public:
  Lister(const HeldDirectory& root, const ListRequest& request, const PathGuard* guard)
      : root_(root), request_(request), guard_(guard), path_(request.path == "." ? "" : request.path) {}

  Result<Listing> list(int directory) {
    Names names;
    if (auto read = read_names(directory, request_.after, names); !read) return read.failure();
    Listing listing;
    listing.more = keep_first(names, request_.limit);
    for (const std::size_t start : names.starts) {
      if (auto added = add(listing, directory, names.at(start)); !added) return added.failure();
    }
    return listing;
  }

 private:
  Status add(Listing& listing, int directory, const char* name) const {
    const auto facts = syscalls::statx_at(directory, name, STATX_TYPE | STATX_MODE | STATX_SIZE | STATX_MTIME);
    // Gone since the directory was read.
    if (facts.failed_with(ENOENT)) return Done{};
    if (!facts) return facts.failure();
    const EntryType type = type_of(facts.value(), root_.allow_mounts());
    listing.names.append(name, std::strlen(name) + 1);
    listing.types.push_back(type);
    listing.links.push_back(type == symlink ? end_of_link(directory, name) : no_link);
    listing.closed.push_back(type == EntryType::directory && guard_ != nullptr && closes(directory, name) ? 1 : 0);
    listing.sizes.push_back(static_cast<double>(facts->stx_size));
    listing.modified_ns.push_back(nanoseconds(facts->stx_mtime));
    listing.modes.push_back(facts->stx_mode);
    return Done{};
  }

  [[nodiscard]] LinkEnd end_of_link(int directory, const char* name) const {
    const auto end = follow_links(root_, request_.root_path, directory, path_, name);
    if (end) return inside;
    return end.failed_with(EXDEV) ? outside : broken;
  }

  /** A directory that cannot be examined counts as closed. */
  [[nodiscard]] bool closes(int directory, const char* name) const {
    const auto entry = open_from(directory, root_, name, O_PATH | O_DIRECTORY);
    if (!entry) return true;
    const auto closed = guard_->is_closed(entry->get());
    return !closed || closed.value();
  }

  const HeldDirectory& root_;
  const ListRequest& request_;
  const PathGuard* guard_;
  std::string path_;
};

template <typename T>
napi_value column(napi_env env, napi_typedarray_type type, const std::vector<T>& values) {
  void* data = nullptr;
  napi_value array = values::typed_array(env, type, values.size(), &data);
  if (array != nullptr && !values.empty()) std::memcpy(data, values.data(), values.size() * sizeof(T));
  return array;
}

}  // namespace

Result<Listing> list_directory(const HeldDirectory& root, const ListRequest& request, PathGuard* guard) {
  constexpr std::uint64_t flags = O_RDONLY | O_DIRECTORY;
  if (guard == nullptr) {
    const auto directory = open_beneath(root, request.path.c_str(), flags);
    if (!directory) return directory.failure();
    return Lister(root, request, nullptr).list(directory->get());
  }
  const std::string_view path = request.path == "." ? std::string_view() : std::string_view(request.path);
  return guard->use(path, [&](const Passage& passage) -> Result<Listing> {
    const auto directory = open_from(passage.fd(), root, ".", flags);
    if (!directory) return directory.failure();
    return Lister(root, request, guard).list(directory->get());
  });
}

napi_value to_javascript(napi_env env, Listing& listing) {
  napi_value result = values::object(env);
  if (result == nullptr) return nullptr;
  values::set(env, result, "names", values::bytes(env, listing.names.data(), listing.names.size()));
  values::set(env, result, "types", column(env, napi_uint8_array, listing.types));
  values::set(env, result, "links", column(env, napi_uint8_array, listing.links));
  values::set(env, result, "closed", column(env, napi_uint8_array, listing.closed));
  values::set(env, result, "sizes", column(env, napi_float64_array, listing.sizes));
  values::set(env, result, "modifiedNs", column(env, napi_bigint64_array, listing.modified_ns));
  values::set(env, result, "modes", column(env, napi_uint32_array, listing.modes));
  values::set(env, result, "more", values::boolean(env, listing.more));
  return result;
}

}  // namespace workspace_authority
