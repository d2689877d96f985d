/* Records what a process asks of the disk, for tests that ask what a power loss would have left of it.
 *
 * LD_PRELOAD this; RECORD_WRITES names the record, RECORD_MATCH a text in the paths of the files that count. Each
 * entry: u32 kind, u32 path length, u64 offset, u64 data length; path; data       (native byte order) kind 1 data
 * written at offset   2 file length set to offset   3 sync begins   4 sync ended An entry of kind 1 or 2 is made after
 * the call has returned to us and before it returns to the program. So whatever the program knows to be written when it
 * asks for a sync stands before that sync's entry 3. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum { kWrite = 1, kLength = 2, kSyncBegin = 3, kSyncEnd = 4 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int record = -2;

static int matches(int fd, char path[PATH_MAX]) {
  const char* wanted = getenv("RECORD_MATCH");
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t n = readlink(link, path, PATH_MAX - 1);
  if (n <= 0 || wanted == NULL) return 0;
  path[n] = 0;
  return strstr(path, wanted) != NULL;
}

static void note(uint32_t kind, const char* path, uint64_t offset, const void* data, uint64_t length) {
  const int saved = errno;
  struct {
    uint32_t kind, path_length;
    uint64_t offset, data_length;
  } head = {kind, (uint32_t)strlen(path), offset, length};
  const struct iovec parts[3] = {
      {&head, sizeof head}, {(void*)(uintptr_t)path, head.path_length}, {(void*)(uintptr_t)data, length}};
  pthread_mutex_lock(&mutex);
  if (record == -2) {
    const char* name = getenv("RECORD_WRITES");
    record = name == NULL ? -1 : open(name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  }
  /* By the system call: our own wrappers must not see it. */
  if (record >= 0 && syscall(SYS_writev, record, parts, length > 0 ? 3 : 2) < 0) _exit(99);
  pthread_mutex_unlock(&mutex);
  errno = saved;
}

static ssize_t do_pwrite(int fd, const void* data, size_t size, off_t offset) {
  char path[PATH_MAX];
  const ssize_t n = syscall(SYS_pwrite64, fd, data, size, offset);
  if (n > 0 && matches(fd, path)) note(kWrite, path, (uint64_t)offset, data, (uint64_t)n);
  return n;
}

static int do_truncate(int fd, off_t length) {
  char path[PATH_MAX];
  const int result = (int)syscall(SYS_ftruncate, fd, length);
  if (result == 0 && matches(fd, path)) note(kLength, path, (uint64_t)length, NULL, 0);
  return result;
}

static int do_sync(long number, int fd) {
  char path[PATH_MAX];
  const int counts = matches(fd, path);
  if (counts) note(kSyncBegin, path, (uint64_t)syscall(SYS_gettid), NULL, 0);
  const int result = (int)syscall(number, fd);
  if (counts && result == 0) note(kSyncEnd, path, (uint64_t)syscall(SYS_gettid), NULL, 0);
  return result;
}

ssize_t pwrite(int fd, const void* data, size_t size, off_t offset) {
  return do_pwrite(fd, data, size, offset);
}
ssize_t pwrite64(int fd, const void* data, size_t size, off_t offset) {
  return do_pwrite(fd, data, size, offset);
}
int ftruncate(int fd, off_t length) {
  return do_truncate(fd, length);
}
int ftruncate64(int fd, off_t length) {
  return do_truncate(fd, length);
}
int fsync(int fd) {
  return do_sync(SYS_fsync, fd);
}
int fdatasync(int fd) {
  return do_sync(SYS_fdatasync, fd);
}

ssize_t write(int fd, const void* data, size_t size) {
  char path[PATH_MAX];
  const ssize_t n = syscall(SYS_write, fd, data, size);
  if (n > 0 && matches(fd, path))
    note(kWrite, path, (uint64_t)syscall(SYS_lseek, fd, 0, SEEK_CUR) - (uint64_t)n, data, (uint64_t)n);
  return n;
}
