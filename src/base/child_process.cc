#include "base/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <new>

#include "base/error.h"
#include "base/process_memory.h"

namespace chunkwise {
namespace {

// The last byte through the pipe: a reply that ends with neither is not whole.
constexpr char kWhole = 'w';
constexpr char kOutOfMemory = 'm';

void lower_limit(decltype(RLIMIT_AS) resource, rlim_t value) {
  rlimit limit{};
  if (getrlimit(resource, &limit) != 0) return;
  limit.rlim_cur = std::min(limit.rlim_cur, value);
  setrlimit(resource, &limit);
}

void restrict_child(const ChildLimits& limits, std::uint64_t address_space_bytes, pid_t parent) {
  // Should the parent be killed, nobody would wait for this process.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  // A crash here is an answer, not an event: no core file, and none for a collector of them either.
  prctl(PR_SET_DUMPABLE, 0);
  lower_limit(RLIMIT_CORE, 0);
  lower_limit(RLIMIT_CPU, limits.cpu_s);
  lower_limit(RLIMIT_AS, address_space_bytes + limits.extra_memory_bytes);
  for (const int signal_number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGXCPU, SIGTERM, SIGINT, SIGHUP})
    signal(signal_number, SIG_DFL);
  // What a crashing library prints is not for the user.
  const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(nowhere, stream);
}

bool send(int fd, const char* data, std::size_t size) {
  while (size > 0) {
    const ssize_t n = write(fd, data, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    data += n;
    size -= static_cast<std::size_t>(n);
  }
  return true;
}

[[noreturn]] void be_child(int fd, const std::function<std::string()>& work) {
  try {
    const std::string reply = work();
    _exit(send(fd, reply.data(), reply.size()) && send(fd, &kWhole, 1) ? 0 : 1);
  } catch (const std::bad_alloc&) {
    send(fd, &kOutOfMemory, 1);
  } catch (...) {
  }
  _exit(1);
}

std::string receive(int fd) {
  std::string text;
  std::array<char, 65536> buffer{};
  for (;;) {
    const ssize_t n = read(fd, buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(n));
  }
}

/// Ends the child if it is still there, whatever happens between.
class Waiter {
 public:
  explicit Waiter(pid_t child) : child_(child) {}
  ~Waiter() {
    if (child_ <= 0) return;
    kill(child_, SIGKILL);
    wait();
  }
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;

  /// The status as of waitpid; 0 if the system does not tell, as where SIGCHLD is ignored.
  int wait() {
    int status = 0;
    pid_t done = 0;
    do {
      done = waitpid(child_, &status, 0);
    } while (done < 0 && errno == EINTR);
    child_ = -1;
    return done > 0 ? status : 0;
  }

 private:
  pid_t child_;
};

class Fd {
 public:
  explicit Fd(int fd) : fd_(fd) {}
  ~Fd() { reset(); }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  int get() const { return fd_; }
  void reset() {
    if (fd_ >= 0) close(fd_);
    fd_ = -1;
  }

 private:
  int fd_;
};

}  // namespace

ChildResult run_in_child(const ChildLimits& limits, const std::function<std::string()>& work) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0)
    throw Error(Code::io, fmt::format("cannot make a pipe: {}", std::strerror(errno)));
  Fd reading(ends[0]);
  Fd writing(ends[1]);
  const std::uint64_t address_space_bytes = mapped_bytes();
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) throw Error(Code::io, fmt::format("cannot start a process: {}", std::strerror(errno)));
  if (child == 0) {
    restrict_child(limits, address_space_bytes, parent);
    be_child(writing.get(), work);
  }
  Waiter waiter(child);
  writing.reset();
  ChildResult result;
  result.reply = receive(reading.get());
  const int status = waiter.wait();

  const char last = result.reply.empty() ? '\0' : result.reply.back();
  if (last == kWhole && (status == 0)) {
    result.end = ChildResult::End::replied;
    result.reply.pop_back();
    return result;
  }
  result.reply.clear();
  if (WIFSIGNALED(status)) {
    result.signal = WTERMSIG(status);
    if (result.signal == SIGXCPU) result.end = ChildResult::End::out_of_time;
  } else if (last == kOutOfMemory) {
    result.end = ChildResult::End::out_of_memory;
  }
  return result;
}

}  // namespace chunkwise
