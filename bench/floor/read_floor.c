/*
 * The least that a confined read can cost: openat2, fstat, read into one buffer, close, in a loop without anything around it.
 *
 *   read_floor DIRECTORY PREFIX FILES SIZE MILLISECONDS
 *
 * Reads the files PREFIX0, PREFIX1, ... below DIRECTORY in turn, each of SIZE bytes. Works for about that time and prints the nanoseconds of one read, a line for each batch. Exits 1 when a read is not whole.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* As many reads between two looks at the clock as the other side does. */
enum { batch = 16, most_batches = 1 << 20 };

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int read_once(int directory, const char *path, char *buffer, size_t size) {
  struct open_how how = {
      .flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY,
      .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV,
  };
  int file = (int)syscall(SYS_openat2, directory, path, &how, sizeof how);
  if (file < 0) return 0;
  struct stat facts;
  int whole = fstat(file, &facts) == 0 && S_ISREG(facts.st_mode) && (size_t)facts.st_size == size &&
              read(file, buffer, size) == (ssize_t)size;
  close(file);
  return whole;
}

int main(int count, char **arguments) {
  if (count != 6) return 2;
  int directory = open(arguments[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  size_t files = strtoul(arguments[3], NULL, 10);
  size_t size = strtoul(arguments[4], NULL, 10);
  int64_t budget_ns = strtoll(arguments[5], NULL, 10) * 1000000;
  char **paths = calloc(files, sizeof *paths);
  char *buffer = malloc(size);
  int64_t *figures = malloc(sizeof(int64_t) * most_batches);
  if (directory < 0 || files == 0 || paths == NULL || buffer == NULL || figures == NULL) return 1;
  for (size_t index = 0; index < files; index += 1) {
    if (asprintf(&paths[index], "%s%zu", arguments[2], index) < 0) return 1;
  }

  int batches = 0;
  size_t turn = 0;
  int64_t end = now_ns() + budget_ns;
  do {
    int64_t start = now_ns();
    for (int done = 0; done < batch; done += 1) {
      if (!read_once(directory, paths[turn++ % files], buffer, size)) return 1;
    }
    figures[batches++] = now_ns() - start;
  } while (batches < most_batches && now_ns() < end);

  for (int index = 0; index < batches; index += 1) printf("%lld\n", (long long)(figures[index] / batch));
  return 0;
}
