/* Records what a process reads, for tests that compare predicted requests with real ones.
 *
 * LD_PRELOAD this; RECORD_READS names the record, RECORD_MATCH a text in the paths that count. A line for each call
 * that succeeded or failed, as it returns: read OFFSET WANTED GOT PATH          by read, pread and their 64-bit names
 *   open RESULT PATH                     RESULT: 1 opened, 0 not there
 * Paths stand as the kernel or the caller has them. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int record = -2;

static int counts(const char* path) {
  const char* wanted = getenv("RECORD_MATCH");
  return wanted != NULL && strstr(path, wanted) != NULL;
}

static void note(const char* line, int length) {
  const int saved = errno;
  pthread_mutex_lock(&mutex);
  if (record == -2) {
    const char* name = getenv("RECORD_READS");
    /* By the system call: our own wrappers must not see it. */
    record =
        name == NULL ? -1 : (int)syscall(SYS_openat, AT_FDCWD, name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  }
  if (record >= 0 && syscall(SYS_write, record, line, (size_t)length) < 0) _exit(99);
  pthread_mutex_unlock(&mutex);
  errno = saved;
}

static void note_read(int fd, long long offset, size_t wanted, ssize_t got) {
  char link[64];
  char path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t n = readlink(link, path, PATH_MAX - 1);
  if (n <= 0) return;
  path[n] = 0;
  if (!counts(path)) return;
  char line[PATH_MAX + 128];
  note(line, snprintf(line, sizeof line, "read %lld %zu %zd %s\n", offset, wanted, got, path));
}

static ssize_t do_pread(int fd, void* data, size_t size, off_t offset) {
  const ssize_t got = syscall(SYS_pread64, fd, data, size, offset);
  note_read(fd, offset, size, got);
  return got;
}

static int do_open(int folder, const char* path, int flags, mode_t mode) {
  const int fd = (int)syscall(SYS_openat, folder, path, flags, mode);
  if (counts(path)) {
    char line[PATH_MAX + 128];
    note(line, snprintf(line, sizeof line, "open %d %s\n", fd >= 0, path));
  }
  return fd;
}

ssize_t pread(int fd, void* data, size_t size, off_t offset) {
  return do_pread(fd, data, size, offset);
}
ssize_t pread64(int fd, void* data, size_t size, off_t offset) {
  return do_pread(fd, data, size, offset);
}
ssize_t read(int fd, void* data, size_t size) {
  const long long offset = syscall(SYS_lseek, fd, 0, SEEK_CUR);
  const ssize_t got = syscall(SYS_read, fd, data, size);
  note_read(fd, offset, size, got);
  return got;
}

#define OPEN_WITH(folder)                                        \
  mode_t mode = 0;                                               \
  if ((flags & (O_CREAT | O_TMPFILE)) != 0) {                    \
    va_list rest;                                                \
    va_start(rest, flags);                                       \
    mode = (mode_t)va_arg(rest, int); /* promoted by the call */ \
    va_end(rest);                                                \
  }                                                              \
  return do_open(folder, path, flags, mode)

int open(const char* path, int flags, ...) {
  OPEN_WITH(AT_FDCWD);
}
int open64(const char* path, int flags, ...) {
  OPEN_WITH(AT_FDCWD);
}
int openat(int folder, const char* path, int flags, ...) {
  OPEN_WITH(folder);
}
int openat64(int folder, const char* path, int flags, ...) {
  OPEN_WITH(folder);
}
