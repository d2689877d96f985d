// The one error type of chunkwise. Its codes are the exit codes of the commands.
#pragma once

#include <exception>
#include <string>
#include <utility>

namespace chunkwise {

/// What kind of failure this is, for machines. The values are exit codes and never change.
enum class Code : int {
  ok = 0,
  usage = 2,          // the request makes no sense: option, name, spelling
  not_found = 3,      // no such file, variable, or not a dataset
  unsupported = 4,    // understood, but cannot be kept or done
  corrupt = 5,        // the input contradicts itself or ends early
  io = 6,             // the operating system said no: disk full, permission
  budget = 7,         // does not fit the memory given
  exists = 8,         // the target is already there
  mismatch = 9,       // verification found a difference
  interrupted = 10,   // stopped by the user
  check_failed = 11,  // --check: the layout is poor
  internal = 70,      // our bug
};

/// The only exception chunkwise throws on purpose.
/// `what()` is one sentence: "<message>: <innermost place>: ... : <outermost place>".
class Error : public std::exception {
 public:
  Error(Code code, std::string message, std::string hint = {});

  Code code() const { return code_; }
  /// The failure alone, without the places.
  const std::string& message() const { return message_; }
  /// Where it happened, innermost first, separated by ": ". Empty if unknown.
  const std::string& where() const { return where_; }
  /// What the user can do next. Empty if nothing is known.
  const std::string& hint() const { return hint_; }
  const char* what() const noexcept override { return full_.c_str(); }

  /// Appends an outer place and returns *this, for `throw e.in("chunk 3 of /T")` in a catch block.
  Error& in(const std::string& place);

 private:
  void compose();

  Code code_;
  std::string message_;
  std::string where_;
  std::string hint_;
  std::string full_;
};

/// Short words for a code: "usage error", "not found", "corrupt input", ...
const char* code_name(Code code);

/// Throws Error{internal}; used by CHUNKWISE_CHECK.
[[noreturn]] void throw_check_failed(const char* expression, const char* file, int line);

}  // namespace chunkwise

/// Guards an invariant of ours; never used on input.
#define CHUNKWISE_CHECK(condition) \
  ((condition) ? void(0) : ::chunkwise::throw_check_failed(#condition, __FILE__, __LINE__))
