// Catch2 matchers for chunkwise::Error.
#pragma once

#include <catch2/catch.hpp>

#include <string>
#include <utility>

#include "base/error.h"

namespace chunkwise::testing {

/// Matches an Error of this code whose sentence or hint contains a text.
class HasCode : public Catch::MatcherBase<Error> {
 public:
  explicit HasCode(Code code, std::string text = {}) : code_(code), text_(std::move(text)) {}
  bool match(const Error& error) const override {
    return error.code() == code_ && (std::string(error.what()) + "\n" + error.hint()).find(text_) != std::string::npos;
  }
  std::string describe() const override { return std::string("is a ") + code_name(code_) + " with '" + text_ + "'"; }

 private:
  Code code_;
  std::string text_;
};

}  // namespace chunkwise::testing

namespace Catch {
template <>
struct StringMaker<chunkwise::Error> {
  static std::string convert(const chunkwise::Error& error) {
    return std::string(chunkwise::code_name(error.code())) + ": " + error.what();
  }
};
}  // namespace Catch

#define REQUIRE_ERROR(expression, ...) \
  REQUIRE_THROWS_MATCHES(expression, ::chunkwise::Error, ::chunkwise::testing::HasCode(__VA_ARGS__))
