/*
 * Exchanges two names again and again until its standard input closes (renameat2(2), RENAME_EXCHANGE), so that there is no moment at
 * which either is absent:
 *
 *   exchange FIRST SECOND LONGEST
 *
 * Between two exchanges it waits for up to LONGEST microseconds, another time each round, so that what looks at the names meets them
 * in all its steps. Says `ready` after the first exchange; at the end both stand as they did at the beginning.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/fs.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int told_to_stop(void) {
  struct pollfd standard_input = {.fd = 0, .events = POLLIN};
  return poll(&standard_input, 1, 0) != 0;
}

int main(int count, char** words) {
  if (count != 4) return 2;
  const long longest = atol(words[3]);
  unsigned int state = 1;
  for (unsigned long round = 1;; round++) {
    if (syscall(SYS_renameat2, AT_FDCWD, words[1], AT_FDCWD, words[2], RENAME_EXCHANGE) != 0) return 1;
    if (round == 1) {
      puts("ready");
      fflush(stdout);
    }
    if (round % 2 == 0 && told_to_stop()) return 0;
    if (longest > 0) {
      const struct timespec pause = {0, 1000L * (rand_r(&state) % longest)};
      nanosleep(&pause, NULL);
    }
  }
}
