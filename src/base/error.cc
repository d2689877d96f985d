#include "base/error.h"

#include <fmt/format.h>

namespace chunkwise {

Error::Error(Code code, std::string message, std::string hint)
    : code_(code), message_(std::move(message)), hint_(std::move(hint)) {
  compose();
}

Error& Error::in(const std::string& place) {
  if (place.empty()) return *this;
  where_ = where_.empty() ? place : where_ + ": " + place;
  compose();
  return *this;
}

void Error::compose() {
  full_ = where_.empty() ? message_ : message_ + ": " + where_;
}

const char* code_name(Code code) {
  switch (code) {
    case Code::ok:
      return "ok";
    case Code::usage:
      return "usage error";
    case Code::not_found:
      return "not found";
    case Code::unsupported:
      return "not supported";
    case Code::corrupt:
      return "corrupt input";
    case Code::io:
      return "input/output error";
    case Code::budget:
      return "not enough memory";
    case Code::exists:
      return "target exists";
    case Code::mismatch:
      return "verification failed";
    case Code::interrupted:
      return "interrupted";
    case Code::check_failed:
      return "check failed";
    case Code::internal:
      return "internal error";
  }
  return "unknown error";
}

void throw_check_failed(const char* expression, const char* file, int line) {
  throw Error(Code::internal, fmt::format("internal check failed: {} ({}:{})", expression, file, line),
              "this is a bug of chunkwise; please report it with the command that led here");
}

}  // namespace chunkwise
