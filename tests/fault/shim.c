// Preloaded into a command under test (LD_PRELOAD): makes calls on some files fail, or take their time. By environment:
//   CHUNKWISE_FAULT_PATH    calls on files whose path contains this text; required
//   CHUNKWISE_FAULT_CALL    read, write, open, sync or rename; required
//   CHUNKWISE_FAULT_ERRNO   the number of the error; 0 or absent: the calls succeed
//   CHUNKWISE_FAULT_BYTES   so many bytes pass before reads or writes fail; a write that reaches them is cut short
//   CHUNKWISE_FAULT_CALLS   so many calls pass before they fail
//   CHUNKWISE_FAULT_SLEEP   microseconds that every such call takes longer
// Or they succeed, and a bit is wrong (CHUNKWISE_FAULT_BIT, counted from the first byte, modulo the length):
//   CHUNKWISE_FAULT_CALL=flip-write   in what is written to such a file, at least CHUNKWISE_FAULT_BYTES at once, by
//                                     the call after CHUNKWISE_FAULT_CALLS others
//   CHUNKWISE_FAULT_CALL=flip-read    in memory, in a block of CHUNKWISE_FAULT_BYTES that was read and hashed once, the
//                                     one after CHUNKWISE_FAULT_CALLS others
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

// The C library has most of these under two names. Both are replaced, and call the kernel themselves.
#undef open64
#undef openat64
#undef pread64
#undef pwrite64

static _Atomic long passed_bytes;
static _Atomic long passed_calls;

static long number(const char* name, long otherwise) {
  const char* text = getenv(name);
  return text ? atol(text) : otherwise;
}

static int concerns(const char* call, const char* path) {
  const char* wanted_call = getenv("CHUNKWISE_FAULT_CALL");
  const char* wanted_path = getenv("CHUNKWISE_FAULT_PATH");
  return wanted_call && wanted_path && path && strcmp(call, wanted_call) == 0 && strstr(path, wanted_path) != NULL;
}

static int concerns_fd(const char* call, int fd) {
  char link[64];
  char path[PATH_MAX + 1];
  const char* wanted_call = getenv("CHUNKWISE_FAULT_CALL");
  if (!wanted_call || strcmp(call, wanted_call) != 0) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t n = readlink(link, path, sizeof path - 1);
  if (n <= 0) return 0;
  path[n] = '\0';
  return concerns(call, path);
}

// How many bytes of a call of `size` may pass; -1: it fails, and errno is set.
static long admit(size_t size) {
  const long pause_us = number("CHUNKWISE_FAULT_SLEEP", 0);
  if (pause_us > 0) usleep((useconds_t)pause_us);
  const int error = (int)number("CHUNKWISE_FAULT_ERRNO", 0);
  if (error == 0) return (long)size;
  if (atomic_fetch_add(&passed_calls, 1) < number("CHUNKWISE_FAULT_CALLS", 0)) return (long)size;
  const long may_pass = number("CHUNKWISE_FAULT_BYTES", 0) - atomic_fetch_add(&passed_bytes, (long)size);
  if (may_pass >= (long)size && size > 0) return (long)size;
  if (may_pass > 0) return may_pass;
  errno = error;
  return -1;
}

static int is_turn(void) {
  return atomic_fetch_add(&passed_calls, 1) == number("CHUNKWISE_FAULT_CALLS", 0);
}

static void flip(void* buffer, size_t size) {
  const size_t bit = (size_t)number("CHUNKWISE_FAULT_BIT", 0) % (size * 8);
  ((unsigned char*)buffer)[bit / 8] ^= (unsigned char)(1U << bit % 8);
}

// What is to be written in place of `buffer`, which the caller frees; NULL: the buffer itself.
static void* flipped(int fd, const void* buffer, size_t size) {
  if (size == 0 || (long)size < number("CHUNKWISE_FAULT_BYTES", 0)) return NULL;
  if (!concerns_fd("flip-write", fd) || !is_turn()) return NULL;
  void* copy = malloc(size);
  memcpy(copy, buffer, size);
  flip(copy, size);
  return copy;
}

// A chunk is hashed when it was read and again when it was decoded; its memory serves the next one then. So every other
// hash of the same block is that of a chunk just read.
uint64_t XXH3_64bits(const void* input, size_t size) {
  static uint64_t (*real)(const void*, size_t);
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  static struct {
    const void* block;
    int n;
  } seen[4096];
  if (!real) real = (uint64_t(*)(const void*, size_t))dlsym(RTLD_NEXT, "XXH3_64bits");
  const uint64_t hash = real(input, size);
  const char* call = getenv("CHUNKWISE_FAULT_CALL");
  if (!call || strcmp(call, "flip-read") != 0 || (long)size != number("CHUNKWISE_FAULT_BYTES", 0)) return hash;
  pthread_mutex_lock(&mutex);
  int i = 0;
  while (i < 4095 && seen[i].block && seen[i].block != input) ++i;
  seen[i].block = input;
  const int just_read = seen[i].n++ % 2 == 0;
  if (just_read && is_turn()) flip((void*)input, size);
  pthread_mutex_unlock(&mutex);
  return hash;
}

ssize_t pread(int fd, void* buffer, size_t size, off_t offset) {
  long n = (long)size;
  if (concerns_fd("read", fd)) n = admit(size);
  return n < 0 ? -1 : syscall(SYS_pread64, fd, buffer, (size_t)n, offset);
}
ssize_t pread64(int fd, void* buffer, size_t size, off_t offset) {
  return pread(fd, buffer, size, offset);
}

ssize_t pwrite(int fd, const void* buffer, size_t size, off_t offset) {
  long n = (long)size;
  if (concerns_fd("write", fd)) n = admit(size);
  void* const other = flipped(fd, buffer, size);
  const ssize_t done = n < 0 ? -1 : syscall(SYS_pwrite64, fd, other ? other : buffer, (size_t)n, offset);
  free(other);
  return done;
}
ssize_t pwrite64(int fd, const void* buffer, size_t size, off_t offset) {
  return pwrite(fd, buffer, size, offset);
}

ssize_t read(int fd, void* buffer, size_t size) {
  long n = (long)size;
  if (concerns_fd("read", fd)) n = admit(size);
  return n < 0 ? -1 : syscall(SYS_read, fd, buffer, (size_t)n);
}

ssize_t write(int fd, const void* buffer, size_t size) {
  long n = (long)size;
  if (concerns_fd("write", fd)) n = admit(size);
  void* const other = flipped(fd, buffer, size);
  const ssize_t done = n < 0 ? -1 : syscall(SYS_write, fd, other ? other : buffer, (size_t)n);
  free(other);
  return done;
}

int fsync(int fd) {
  if (concerns_fd("sync", fd) && admit(0) < 0) return -1;
  return (int)syscall(SYS_fsync, fd);
}

int syncfs(int fd) {
  if (concerns_fd("sync", fd) && admit(0) < 0) return -1;
  return (int)syscall(SYS_syncfs, fd);
}

int rename(const char* from, const char* to) {
  if (concerns("rename", to) && admit(0) < 0) return -1;
  return (int)syscall(SYS_rename, from, to);
}

int renameat2(int from_folder, const char* from, int to_folder, const char* to, unsigned flags) {
  if (concerns("rename", to) && admit(0) < 0) return -1;
  return (int)syscall(SYS_renameat2, from_folder, from, to_folder, to, flags);
}

static int open_at(int folder, const char* path, int flags, va_list arguments) {
  const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
  if (concerns("open", path) && admit(0) < 0) return -1;
  return (int)syscall(SYS_openat, folder, path, flags, mode);
}

#define OPEN(name, parameters, folder)                \
  int name parameters {                               \
    va_list arguments;                                \
    va_start(arguments, flags);                       \
    int fd = open_at(folder, path, flags, arguments); \
    va_end(arguments);                                \
    return fd;                                        \
  }
OPEN(open, (const char* path, int flags, ...), AT_FDCWD)
OPEN(open64, (const char* path, int flags, ...), AT_FDCWD)
OPEN(openat, (int folder, const char* path, int flags, ...), folder)
OPEN(openat64, (int folder, const char* path, int flags, ...), folder)
