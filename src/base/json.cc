// Reading and writing of JSON. Not left to the JSON library, because array stores contain bare NaN and Infinity,
// numbers above the range of a double, and objects of so many members that looking each name up again would be
// quadratic.
#include "base/json.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <locale>
#include <sstream>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"

namespace chunkwise {
namespace {

constexpr int kMaxDepth = 256;

// Length of the well-formed UTF-8 sequence at the start of `text`; 0 if it is malformed. `text` is not empty.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return 0;
  // The second byte has a narrower range after some lead bytes: no overlong forms, no surrogates, no more than
  // U+10FFFF.
  const unsigned low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  const unsigned high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  if (byte(1) < low || byte(1) > high) return 0;
  for (std::size_t i = 2; i < length; ++i) {
    if (byte(i) < 0x80 || byte(i) > 0xBF) return 0;
  }
  return length;
}

void append_utf8(std::string& out, std::uint32_t code_point) {
  const auto put = [&](std::uint32_t byte) { out += static_cast<char>(static_cast<unsigned char>(byte)); };
  if (code_point < 0x80) {
    put(code_point);
  } else if (code_point < 0x800) {
    put(0xC0 | (code_point >> 6));
    put(0x80 | (code_point & 0x3F));
  } else if (code_point < 0x10000) {
    put(0xE0 | (code_point >> 12));
    put(0x80 | ((code_point >> 6) & 0x3F));
    put(0x80 | (code_point & 0x3F));
  } else {
    put(0xF0 | (code_point >> 18));
    put(0x80 | ((code_point >> 12) & 0x3F));
    put(0x80 | ((code_point >> 6) & 0x3F));
    put(0x80 | (code_point & 0x3F));
  }
}

double nearest_double(std::string_view number) {
  double value = 0;
  if (std::from_chars(number.data(), number.data() + number.size(), value).ec == std::errc()) return value;
  // Too large or too small for a double: infinity, or zero or a subnormal. Rare, hence not quick.
  std::istringstream in{std::string(number)};
  in.imbue(std::locale::classic());
  in >> value;
  if (in.fail() && value != 0) return std::copysign(std::numeric_limits<double>::infinity(), value);
  return value;
}

std::string_view digits_of(const Json& long_integer) {
  const auto& bytes = long_integer.get_binary();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {
    if (text_.substr(0, 3) == "\xEF\xBB\xBF") at_ = 3;
  }

  Json document() {
    Json value = parse_value(0);
    skip_space();
    if (at_ != text_.size()) fail("text follows the end of the document");
    return value;
  }

 private:
  [[noreturn]] void fail(const std::string& why) const {
    const std::string_view before = text_.substr(0, at_);
    const auto line = 1 + std::count(before.begin(), before.end(), '\n');
    const std::size_t line_start = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
    throw Error(Code::corrupt, fmt::format("invalid JSON at line {}, column {}: {}", line, at_ - line_start + 1, why));
  }

  bool ended() const { return at_ == text_.size(); }
  char peek() const { return ended() ? '\0' : text_[at_]; }

  void skip_space() {
    while (!ended() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r')) ++at_;
  }

  bool take(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  Json parse_value(int depth) {
    skip_space();
    if (ended()) fail("the document ends early");
    switch (peek()) {
      case '{':
        return parse_object(depth + 1);
      case '[':
        return parse_array(depth + 1);
      case '"':
        return Json(parse_string());
      default:
        break;
    }
    if (take("true")) return Json(true);
    if (take("false")) return Json(false);
    if (take("null")) return Json(nullptr);
    if (take("NaN")) return Json(std::numeric_limits<double>::quiet_NaN());
    if (take("Infinity")) return Json(std::numeric_limits<double>::infinity());
    if (take("-Infinity")) return Json(-std::numeric_limits<double>::infinity());
    if (peek() == '-' || is_digit()) return parse_number();
    fail("a value is expected here");
  }

  void enter(int depth) {
    if (depth > kMaxDepth) fail(fmt::format("it is nested deeper than {} levels", kMaxDepth));
    ++at_;
    skip_space();
  }

  // After a value inside brackets: true at the closing one, false after a comma.
  bool at_end_of(char close) {
    skip_space();
    if (ended()) fail("the document ends early");
    if (peek() == close) {
      ++at_;
      return true;
    }
    if (peek() != ',') fail(fmt::format("',' or '{}' is expected here", close));
    ++at_;
    skip_space();
    return false;
  }

  Json parse_array(int depth) {
    enter(depth);
    Json array = Json::array();
    if (peek() == ']') {
      ++at_;
      return array;
    }
    auto& items = array.get_ref<Json::array_t&>();
    do {
      items.push_back(parse_value(depth));
    } while (!at_end_of(']'));
    return array;
  }

  Json parse_object(int depth) {
    enter(depth);
    Json object = Json::object();
    if (peek() == '}') {
      ++at_;
      return object;
    }
    // The library's ordered object is a vector that is searched from its front; the index keeps large ones linear.
    constexpr std::size_t kFewMembers = 16;
    Json::object_t::Container& members = object.get_ref<Json::object_t&>();
    std::unordered_map<std::string, std::size_t> later_members;
    const auto find_member = [&](const std::string& name) {
      const std::size_t n_first = std::min(members.size(), kFewMembers);
      for (std::size_t i = 0; i < n_first; ++i) {
        if (members[i].first == name) return i;
      }
      const auto found = later_members.find(name);
      return found == later_members.end() ? members.size() : found->second;
    };
    do {
      if (peek() != '"') fail("the name of a member is expected here");
      std::string name = parse_string();
      skip_space();
      if (peek() != ':') fail("':' is expected here");
      ++at_;
      Json value = parse_value(depth);
      const std::size_t place = find_member(name);
      if (place != members.size()) {
        members[place].second = std::move(value);
        continue;
      }
      if (place >= kFewMembers) later_members.emplace(name, place);
      members.emplace_back(std::move(name), std::move(value));
    } while (!at_end_of('}'));
    return object;
  }

  std::string parse_string() {
    ++at_;  // the quote
    std::string out;
    for (;;) {
      if (ended()) fail("a string is not closed");
      const auto byte = static_cast<unsigned char>(text_[at_]);
      if (byte == '"') {
        ++at_;
        return out;
      }
      if (byte == '\\') {
        parse_escape(out);
        continue;
      }
      if (byte < 0x20) fail("a control character stands in a string unescaped");
      const std::size_t length = utf8_length(text_.substr(at_));
      if (length == 0) fail("a string is not valid UTF-8");
      out.append(text_, at_, length);
      at_ += length;
    }
  }

  void parse_escape(std::string& out) {
    constexpr std::string_view kLetters = "\"\\/bfnrt";
    constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
    ++at_;  // the backslash
    const char letter = peek();
    if (const std::size_t i = kLetters.find(letter); !ended() && i != std::string_view::npos) {
      out += kMeanings[i];
      ++at_;
      return;
    }
    if (letter != 'u') fail("an escape sequence in a string is unknown");
    ++at_;
    std::uint32_t code_point = parse_hex4();
    if (code_point >= 0xDC00 && code_point <= 0xDFFF) fail("a string contains half of a surrogate pair");
    if (code_point >= 0xD800 && code_point <= 0xDBFF) {
      if (!take("\\u")) fail("a string contains half of a surrogate pair");
      const std::uint32_t low = parse_hex4();
      if (low < 0xDC00 || low > 0xDFFF) fail("a string contains half of a surrogate pair");
      code_point = 0x10000 + ((code_point - 0xD800) << 10) + (low - 0xDC00);
    }
    append_utf8(out, code_point);
  }

  std::uint32_t parse_hex4() {
    std::uint32_t value = 0;
    const std::string_view digits = text_.substr(at_, 4);
    const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
    if (digits.size() != 4 || result.ptr != digits.data() + 4) fail("\\u is not followed by four hexadecimal digits");
    at_ += 4;
    return value;
  }

  bool is_digit() const { return peek() >= '0' && peek() <= '9'; }

  void skip_digits() {
    if (!is_digit()) fail("a digit is expected here");
    while (is_digit()) ++at_;
  }

  Json parse_number() {
    const std::size_t start = at_;
    const bool negative = peek() == '-';
    if (negative) ++at_;
    if (peek() == '0') {
      ++at_;
      if (is_digit()) fail("a number begins with 0");
    } else {
      skip_digits();
    }
    bool integral = true;
    if (peek() == '.') {
      integral = false;
      ++at_;
      skip_digits();
    }
    if (peek() == 'e' || peek() == 'E') {
      integral = false;
      ++at_;
      if (peek() == '+' || peek() == '-') ++at_;
      skip_digits();
    }
    const char* first = text_.data() + start;
    const char* last = text_.data() + at_;
    if (integral && negative) {
      std::int64_t value = 0;
      if (std::from_chars(first, last, value).ec == std::errc()) return Json(value);
    } else if (integral) {
      std::uint64_t value = 0;
      if (std::from_chars(first, last, value).ec == std::errc()) return Json(value);
    }
    if (integral) return Json::binary(std::vector<std::uint8_t>(first, last));
    return Json(nearest_double({first, last}));
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

// Writes without recursion: a value made by a program may be nested as deep as memory allows.
class Writer {
 public:
  explicit Writer(int indent) : indent_(indent) {}

  std::string document(const Json& root) {
    value(root);
    while (!open_.empty()) {
      Level& level = open_.back();
      const bool is_object = level.container->is_object();
      if (level.next == level.container->cend()) {
        open_.pop_back();
        new_line();
        out_ += is_object ? '}' : ']';
        continue;
      }
      if (!level.first) out_ += ',';
      level.first = false;
      new_line();
      const auto item = level.next++;
      if (is_object) {
        string(item.key());
        out_ += indent_ < 0 ? ":" : ": ";
      }
      value(*item);  // may add a level, so `level` is not used after it
    }
    return std::move(out_);
  }

 private:
  struct Level {
    const Json* container;
    Json::const_iterator next;
    bool first = true;
  };

  void new_line() {
    if (indent_ < 0) return;
    out_ += '\n';
    out_.append(static_cast<std::size_t>(indent_) * open_.size(), ' ');
  }

  void value(const Json& json) {
    switch (json.type()) {
      case Json::value_t::null:
        out_ += "null";
        return;
      case Json::value_t::boolean:
        out_ += json.get<bool>() ? "true" : "false";
        return;
      case Json::value_t::number_integer:
        fmt::format_to(std::back_inserter(out_), "{}", json.get<std::int64_t>());
        return;
      case Json::value_t::number_unsigned:
        fmt::format_to(std::back_inserter(out_), "{}", json.get<std::uint64_t>());
        return;
      case Json::value_t::number_float:
        number(json.get<double>());
        return;
      case Json::value_t::string:
        string(json.get_ref<const std::string&>());
        return;
      case Json::value_t::object:
      case Json::value_t::array:
        if (json.empty()) {
          out_ += json.is_object() ? "{}" : "[]";
          return;
        }
        out_ += json.is_object() ? '{' : '[';
        open_.push_back({&json, json.cbegin()});
        return;
      case Json::value_t::binary:
        out_ += digits_of(json);
        return;
      case Json::value_t::discarded:
        break;
    }
    throw Error(Code::internal, "a JSON value is of a kind that has no text form");
  }

  void number(double value) {
    if (std::isnan(value)) {
      out_ += "NaN";
    } else if (std::isinf(value)) {
      out_ += value < 0 ? "-Infinity" : "Infinity";
    } else {
      const std::string digits = fmt::format("{}", value);
      out_ += digits;
      if (digits.find_first_of(".e") == std::string::npos) out_ += ".0";
    }
  }

  void string(const std::string& text) {
    constexpr std::string_view kSpecial = "\"\\\b\f\n\r\t";
    constexpr std::string_view kLetters = "\"\\bfnrt";
    out_ += '"';
    for (std::string_view rest = text; !rest.empty();) {
      const char c = rest.front();
      const std::size_t length = utf8_length(rest);
      if (length == 0) {
        throw Error(Code::unsupported, "a text is not valid UTF-8 and cannot be written as JSON",
                    "convert the text to UTF-8 in the source");
      }
      if (const std::size_t i = kSpecial.find(c); i != std::string_view::npos) {
        out_ += '\\';
        out_ += kLetters[i];
      } else if (static_cast<unsigned char>(c) < 0x20) {
        fmt::format_to(std::back_inserter(out_), "\\u{:04x}", static_cast<unsigned>(c));
      } else {
        out_.append(rest.substr(0, length));
      }
      rest.remove_prefix(length);
    }
    out_ += '"';
  }

  int indent_;
  std::string out_;
  std::vector<Level> open_;
};

}  // namespace

Json parse_json(std::string_view text) {
  return Parser(text).document();
}

std::string dump_json(const Json& value, int indent) {
  return Writer(indent).document(value);
}

std::optional<double> to_double(const Json& value) {
  if (value.is_binary()) return nearest_double(digits_of(value));
  if (value.is_number()) return value.get<double>();
  return std::nullopt;
}

}  // namespace chunkwise
