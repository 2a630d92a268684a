#include "links.h"

#include <fcntl.h>

#include <cerrno>
#include <optional>

#include "arguments.h"
#include "resolve.h"
#include "syscalls.h"

namespace workspace_authority {
namespace {

constexpr int most_links = 40;                    // as the kernel's own walk (path_resolution(7))
constexpr long proc_super_magic = 0x9FA0;         // statfs(2)
constexpr unsigned long st_nosymfollow = 0x2000;  // statfs(2), Linux 5.10

constexpr Failure outside{EXDEV, "readlinkat", Refusal::none};
constexpr Failure too_many_links{ELOOP, "readlinkat", Refusal::none};

/** Takes the next component off the front; empty at the end. `a//b` has two. */
std::string_view take_component(std::string_view& path) {
  path.remove_prefix(std::min(path.find_first_not_of('/'), path.size()));
  const std::string_view component = path.substr(0, path.find('/'));
  path.remove_prefix(component.size());
  return component;
}

/** What follows `root_path` in an absolute target, or nothing when the target lies elsewhere. */
std::optional<std::string_view> below_root(std::string_view root_path, std::string_view target) {
  while (true) {
    const std::string_view expected = take_component(root_path);
    if (expected.empty()) return target;
    // `..` matches no component of a canonical root, so a target that winds its way in counts as outside.
    if (take_component(target) != expected) return std::nullopt;
  }
}

class Walk {
 public:
  Walk(const HeldDirectory& root, std::string_view root_path, int start, std::string_view start_path)
      : root_(root), root_path_(root_path), directory_(start), canonical_(start_path) {}

  Result<std::string> follow(std::string_view path) {
    rest_ = path;
    while (true) {
      std::string_view remaining = rest_;
      const std::string component(take_component(remaining));
      // Cut by length, as `remaining` looks into `rest_`.
      rest_.erase(0, rest_.size() - remaining.size());
      if (component.empty()) return canonical_;
      if (component == ".") continue;
      const Status stepped = component == ".." ? go_up() : step(component);
      if (!stepped) return stepped.failure();
    }
  }

 private:
  Status step(const std::string& name) {
    auto entry = open_from(directory_, root_, name.c_str(), O_PATH | O_NOFOLLOW);
    if (!entry) return entry.failure();
    const auto facts = syscalls::statx_fd(entry->get(), STATX_TYPE);
    if (!facts) return facts.failure();
    if (S_ISLNK(facts->stx_mode)) return splice(entry->get());
    // Anything after a file, even a slash, asks for a directory.
    if (!S_ISDIR(facts->stx_mode) && !rest_.empty()) return Failure{ENOTDIR, "openat2", Refusal::none};
    append(name);
    hold(entry.take());
    return Done{};
  }

  Status splice(int link) {
    if (++links_ > most_links) return too_many_links;
    const auto file_system = syscalls::fstatfs(link);
    if (!file_system) return file_system.failure();
    if (file_system->f_type == proc_super_magic) return outside;
    if ((static_cast<unsigned long>(file_system->f_flags) & st_nosymfollow) != 0) return too_many_links;
    auto target = syscalls::readlinkat(link, "");
    if (!target) return target.failure();
    std::string_view next = target.value();
    if (next.empty()) return Failure{ENOENT, "readlinkat", Refusal::none};
    if (next.front() == '/') {
      const auto below = below_root(root_path_, next);
      if (!below) return outside;
      next = *below;
      canonical_.clear();
      owned_ = UniqueFd();
      directory_ = root_.fd();
    }
    if (next.size() + rest_.size() > arguments::longest_path) return Failure{ENAMETOOLONG, "readlinkat", Refusal::none};
    rest_.insert(0, next);
    return Done{};
  }

  Status go_up() {
    if (canonical_.empty()) return outside;
    canonical_.resize(canonical_.find('/') == std::string::npos ? 0 : canonical_.rfind('/'));
    // Opened anew from the root instead of keeping every directory of the way open.
    auto directory = open_beneath(root_, canonical_.empty() ? "." : canonical_.c_str(), O_PATH | O_DIRECTORY);
    if (!directory) return directory.failure();
    hold(directory.take());
    return Done{};
  }

  void append(const std::string& name) {
    if (!canonical_.empty()) canonical_ += '/';
    canonical_ += name;
  }

  void hold(UniqueFd directory) {
    owned_ = std::move(directory);
    directory_ = owned_.get();
  }

  const HeldDirectory& root_;
  std::string_view root_path_;
  UniqueFd owned_;
  int directory_;
  std::string canonical_;
  std::string rest_;
  int links_ = 0;
};

}  // namespace

Result<std::string> follow_links(const HeldDirectory& root, std::string_view root_path, int start,
                                 std::string_view start_path, std::string_view path) {
  return Walk(root, root_path, start, start_path).follow(path);
}

}  // namespace workspace_authority
