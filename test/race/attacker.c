/*
 * A hostile process beside the server: changes names below a directory as fast as it can until its standard input closes, then
 * prints how many changes it made.
 *
 *   attacker DIR exchange A B      swap the two names, again and again
 *   attacker DIR bounce A B        move A to B and back
 *   attacker DIR flood TARGET TAG  rename numbered files "TAG <n>" over TARGET; every one is a foreign write
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int told_to_stop(void) {
  struct pollfd standard_input = {.fd = 0, .events = POLLIN};
  return poll(&standard_input, 1, 0) != 0;
}

static long swap(const char* a, const char* b, unsigned flags) {
  return syscall(SYS_renameat2, AT_FDCWD, a, AT_FDCWD, b, flags);
}

static int write_version(const char* name, const char* tag, unsigned long number) {
  char text[128];
  int length = snprintf(text, sizeof text, "%s %lu\n", tag, number);
  int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) return -1;
  int written = (int)write(fd, text, (size_t)length);
  close(fd);
  return written == length ? 0 : -1;
}

int main(int count, char** words) {
  if (count != 5 || chdir(words[1]) != 0) return 2;
  const char* mode = words[2];
  const char* first = words[3];
  const char* second = words[4];
  unsigned long changes = 0;
  puts("ready");
  fflush(stdout);
  for (unsigned long round = 0;; round++) {
    if (round % 64 == 0 && told_to_stop()) break;
    if (strcmp(mode, "exchange") == 0) {
      changes += swap(first, second, RENAME_EXCHANGE) == 0;
    } else if (strcmp(mode, "bounce") == 0) {
      changes += swap(first, second, RENAME_NOREPLACE) == 0;
      changes += swap(second, first, RENAME_NOREPLACE) == 0;
    } else if (strcmp(mode, "flood") == 0) {
      char name[64];
      snprintf(name, sizeof name, ".%s-next", second);
      if (write_version(name, second, changes + 1) != 0 || rename(name, first) != 0) return 1;
      changes++;
    } else {
      return 2;
    }
  }
  printf("%lu\n", changes);
  return 0;
}
