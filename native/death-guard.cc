/**
 * death-guard: runs one command that must not outlive its host.
 *
 *   death-guard [--keep-session] [--data-limit=BYTES] LIFELINE COMMAND [ARGUMENT...]
 *
 * LIFELINE is the number of an inherited descriptor: the reading end of a pipe, or one end of a stream socket, whose
 * other end only the host holds. When the host closes it or dies, however it dies, the lifeline ends, and with it
 * everything that the command started. The command never sees the lifeline; all other inherited descriptors go through
 * to it untouched.
 *
 * The command runs in a session and process group of its own (with --keep-session: only a group of its own). Death
 * means SIGKILL: first for the group, then for whatever left it, since orphans of the command become children of the
 * guard (prctl(2), PR_SET_CHILD_SUBREAPER). The same happens when the guard gets SIGTERM, SIGINT, SIGHUP or SIGQUIT,
 * and when the command itself has ended: nothing of it stays behind. Should the guard be killed, the command is too
 * (PR_SET_PDEATHSIG), its own children then are not.
 *
 * With --data-limit the command can have no more memory of its own than that (setrlimit(2), RLIMIT_DATA); files that it
 * maps do not count.
 *
 * The guard ends as the command did: with its exit code, or by its signal. A command that cannot be started gives exit
 * code 127 and, what no command can forge, the line `failed <errno number>` written to the lifeline; where that is a
 * pipe, which cannot carry it, to standard error. Wrong usage, or a failure of the guard itself, gives 125 in the same
 * way.
 */
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

constexpr int exit_guard_failed = 125;
constexpr int exit_not_started = 127;
constexpr const char* data_limit_option = "--data-limit=";

struct Request {
  bool keep_session = false;
  rlim_t data_limit = RLIM_INFINITY;
  int lifeline = -1;
  char** command = nullptr;
};

/** Tells the host why nothing runs, by the one way that the command does not have. */
void report_failure(int lifeline, int error) {
  char line[32];
  const int length = std::snprintf(line, sizeof line, "failed %d\n", error);
  const auto size = static_cast<size_t>(length);
  if (lifeline >= 0 && ::send(lifeline, line, size, MSG_NOSIGNAL) == length) return;
  static_cast<void>(!::write(STDERR_FILENO, "death-guard: ", 13));
  static_cast<void>(!::write(STDERR_FILENO, line, size));
}

bool parse(int count, char** arguments, Request& request) {
  int next = 1;
  if (next < count && std::strcmp(arguments[next], "--keep-session") == 0) {
    request.keep_session = true;
    ++next;
  }
  char* end = nullptr;
  if (next < count && std::strncmp(arguments[next], data_limit_option, std::strlen(data_limit_option)) == 0) {
    const char* bytes = arguments[next] + std::strlen(data_limit_option);
    request.data_limit = std::strtoull(bytes, &end, 10);
    if (*bytes < '0' || *bytes > '9' || *end != '\0' || request.data_limit == RLIM_INFINITY) return false;
    ++next;
  }
  if (count - next < 2) return false;
  const long number = std::strtol(arguments[next], &end, 10);
  if (*arguments[next] == '\0' || *end != '\0' || number < 0 || number > INT_MAX) return false;
  request.lifeline = static_cast<int>(number);
  request.command = arguments + next + 1;
  return ::fcntl(request.lifeline, F_GETFD) != -1;
}

/** In the child: becomes the command, or returns the errno. */
int become_command(const Request& request, pid_t guard, const sigset_t& signals_before) {
  if (request.keep_session ? ::setpgid(0, 0) == -1 : ::setsid() == -1) return errno;
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) == -1) return errno;
  // The guard may have died before the kernel was asked to watch it.
  if (::getppid() != guard) ::kill(::getpid(), SIGKILL);
  if (request.data_limit != RLIM_INFINITY) {
    const struct rlimit limit = {request.data_limit, request.data_limit};
    if (::setrlimit(RLIMIT_DATA, &limit) == -1) return errno;
  }
  ::close(request.lifeline);
  ::sigprocmask(SIG_SETMASK, &signals_before, nullptr);
  ::execvp(request.command[0], request.command);
  return errno;
}

/** Lets go of everything inherited but the lifeline and `keep`: only the command shall hold its pipes open. */
void drop_descriptors(int lifeline, int keep) {
  DIR* directory = ::opendir("/proc/self/fd");
  if (directory == nullptr) return;
  while (const dirent* entry = ::readdir(directory)) {
    // `.` and `..` come out as 0, which is not closed here.
    const auto fd = static_cast<int>(std::strtol(entry->d_name, nullptr, 10));
    if (fd > STDERR_FILENO && fd != ::dirfd(directory) && fd != lifeline && fd != keep) ::close(fd);
  }
  ::closedir(directory);
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    if (fd == lifeline || fd == keep) continue;
    if (null == -1) {
      ::close(fd);
    } else {
      ::dup2(null, fd);
    }
  }
  if (null > STDERR_FILENO) ::close(null);
}

/** Kills every child of the guard: what left the group, and orphans handed to it. False where they cannot be listed. */
bool kill_children() {
  char path[64];
  static_cast<void>(std::snprintf(path, sizeof path, "/proc/self/task/%d/children", static_cast<int>(::getpid())));
  const int list = ::open(path, O_RDONLY | O_CLOEXEC);
  if (list == -1) return false;
  // Decimal numbers, each followed by a space; what does not fit is read when these have died.
  char numbers[4096];
  const ssize_t length = ::read(list, numbers, sizeof numbers - 1);
  ::close(list);
  if (length == -1) return false;
  numbers[length] = '\0';
  char* next = numbers;
  while (char* end = std::strchr(next, ' ')) {
    const long child = std::strtol(next, nullptr, 10);
    if (child > 0) ::kill(static_cast<pid_t>(child), SIGKILL);
    next = end + 1;
  }
  return true;
}

/**
 * Ends the command and all that it left, and returns how the command ended. It must not have been reaped yet: until
 * then no other group can have its number.
 */
int kill_everything(pid_t command) {
  ::kill(-command, SIGKILL);
  int command_status = 0;
  bool command_reaped = false;
  while (true) {
    // Each death may hand over orphans, so again until no child remains.
    const bool listed = kill_children();
    if (!listed && command_reaped) return command_status;
    int status = 0;
    const pid_t ended = ::waitpid(-1, &status, WNOHANG);
    if (ended == -1 && errno == ECHILD) return command_status;
    if (ended == command) {
      command_status = status;
      command_reaped = true;
    }
    // The dying are not dead at once.
    if (ended == 0) ::poll(nullptr, 0, 1);
  }
}

[[noreturn]] void end_by_signal(int signal) {
  // The command's core dump, if any, is written already.
  const rlimit none{0, 0};
  static_cast<void>(::setrlimit(RLIMIT_CORE, &none));
  static_cast<void>(std::signal(signal, SIG_DFL));
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, signal);
  ::sigprocmask(SIG_UNBLOCK, &only, nullptr);
  static_cast<void>(::raise(signal));
  std::_Exit(128 + signal);
}

[[noreturn]] void end_like(int status) {
  if (WIFSIGNALED(status)) end_by_signal(WTERMSIG(status));
  std::_Exit(WEXITSTATUS(status));
}

/** Whether the other end is gone. Data from it means nothing and is thrown away. */
bool lifeline_ended(int lifeline) {
  char ignored[256];
  const ssize_t count = ::read(lifeline, ignored, sizeof ignored);
  return count == 0 || (count == -1 && errno != EINTR && errno != EAGAIN);
}

/** Whether the command has ended. Reaps everything else that has; the command itself stays unreaped. */
bool command_ended(pid_t command) {
  while (true) {
    siginfo_t ended{};
    if (::waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) == -1 || ended.si_pid == 0) return false;
    if (ended.si_pid == command) return true;
    ::waitpid(ended.si_pid, nullptr, 0);
  }
}

/** Learns whether the command has started: the pipe ends without a word when it has. Else ends the guard. */
void await_start(const Request& request, pid_t command, int started) {
  int error = 0;
  if (::read(started, &error, sizeof error) != sizeof error) return;
  ::waitpid(command, nullptr, 0);
  report_failure(request.lifeline, error);
  std::_Exit(exit_not_started);
}

[[noreturn]] void watch(const Request& request, pid_t command, int signals, int started) {
  pollfd watched[] = {{request.lifeline, POLLIN, 0}, {signals, POLLIN, 0}, {started, POLLIN, 0}};
  while (true) {
    if (::poll(watched, 3, -1) == -1) continue;
    if (watched[2].revents != 0) {
      await_start(request, command, started);
      ::close(started);
      watched[2].fd = -1;  // poll(2) skips it
      drop_descriptors(request.lifeline, signals);
    }
    if (watched[1].revents != 0) {
      signalfd_siginfo signal{};
      if (::read(signals, &signal, sizeof signal) == sizeof signal && signal.ssi_signo != SIGCHLD) {
        kill_everything(command);
        end_by_signal(static_cast<int>(signal.ssi_signo));
      }
      if (command_ended(command)) end_like(kill_everything(command));
    }
    if (watched[0].revents != 0 && lifeline_ended(request.lifeline)) {
      kill_everything(command);
      end_by_signal(SIGKILL);
    }
  }
}

int fail(const Request& request, int error) {
  report_failure(request.lifeline, error);
  return exit_guard_failed;
}

}  // namespace

int main(int count, char** arguments) {
  Request request;
  if (!parse(count, arguments, request)) return fail(request, EINVAL);
  // A host that ignores it would have the kernel reap our children before we can ask how they ended.
  static_cast<void>(std::signal(SIGCHLD, SIG_DFL));
  sigset_t handled;
  sigset_t before;
  sigemptyset(&handled);
  const int handled_signals[] = {SIGCHLD, SIGTERM, SIGINT, SIGHUP, SIGQUIT};
  for (const int signal : handled_signals) sigaddset(&handled, signal);
  ::sigprocmask(SIG_BLOCK, &handled, &before);
  const int signals = ::signalfd(-1, &handled, SFD_CLOEXEC);
  // Closes by itself when the command starts; carries the errno when it does not.
  int started[2];
  if (signals == -1 || ::prctl(PR_SET_CHILD_SUBREAPER, 1) == -1 || ::pipe2(started, O_CLOEXEC) == -1) {
    return fail(request, errno);
  }

  const pid_t guard = ::getpid();
  const pid_t command = ::fork();
  if (command == -1) return fail(request, errno);
  if (command == 0) {
    const int error = become_command(request, guard, before);
    static_cast<void>(!::write(started[1], &error, sizeof error));
    std::_Exit(exit_not_started);
  }
  ::close(started[1]);
  watch(request, command, signals, started[0]);
}
