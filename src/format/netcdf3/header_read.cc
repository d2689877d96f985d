#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <unordered_set>

#include "array/json_fields.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/utf8.h"
#include "format/netcdf3/header.h"

namespace chunkwise::netcdf3 {
namespace {

constexpr std::uint32_t kDimensionTag = 0x0A;
constexpr std::uint32_t kVariableTag = 0x0B;
constexpr std::uint32_t kAttributeTag = 0x0C;
constexpr std::uint64_t kWindow_bytes = 64u << 10;
/// More metadata than any tool makes; a file that asks for more is out to fill our memory.
constexpr std::uint64_t kMostHeader_bytes = std::uint64_t{256} << 20;
constexpr std::uint64_t kMostIndex = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());

std::uint64_t padded(std::uint64_t bytes) {
  return bytes + (4 - bytes % 4) % 4;
}

[[noreturn]] void malformed(const std::string& what) {
  throw Error(Code::corrupt, "the netCDF header is damaged: " + what);
}

/// Reads a file from its start, through a small window.
class Cursor {
 public:
  explicit Cursor(const Object& file) : file_(file), end_(std::min(file.size_bytes(), kMostHeader_bytes)) {}

  std::uint64_t at() const { return at_; }
  std::uint64_t left() const { return end_ - at_; }

  std::uint64_t number(std::size_t n_bytes) {
    std::byte raw[8];
    read(MutableByteView(raw, n_bytes));
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < n_bytes; ++i) value = value << 8 | static_cast<std::uint64_t>(raw[i]);
    return value;
  }

  /// `n_bytes` and the padding after them, which may be cut off at the end of the file.
  std::vector<std::byte> block(std::uint64_t n_bytes, const std::string& what) {
    if (n_bytes > left()) {
      if (end_ < file_.size_bytes()) throw Error(Code::unsupported, "the netCDF header is larger than 256 MiB");
      malformed(fmt::format("{} has {} bytes, but only {} follow in the file", what, n_bytes, left()));
    }
    std::vector<std::byte> bytes(static_cast<std::size_t>(n_bytes));
    read(bytes);
    at_ += std::min(padded(n_bytes) - n_bytes, left());
    return bytes;
  }

 private:
  void read(MutableByteView out) {
    if (out.size() > left()) malformed(fmt::format("it ends after {} bytes", at_));
    while (!out.empty()) {
      if (at_ < window_at_ || at_ >= window_at_ + window_.size()) fill();
      const auto from = static_cast<std::size_t>(at_ - window_at_);
      const std::size_t n = std::min(out.size(), window_.size() - from);
      std::copy_n(window_.begin() + static_cast<std::ptrdiff_t>(from), n, out.begin());
      out = out.subspan(n);
      at_ += n;
    }
  }

  void fill() {
    window_.resize(static_cast<std::size_t>(std::min(kWindow_bytes, left())));
    window_at_ = at_;
    file_.read(at_, window_);
  }

  const Object& file_;
  const std::uint64_t end_;
  std::uint64_t at_ = 0;
  std::vector<std::byte> window_;
  std::uint64_t window_at_ = 0;
};

class HeaderParser {
 public:
  explicit HeaderParser(const Object& file) : cursor_(file) {}

  Header parse() {
    parse_magic();
    const std::uint64_t n_records = cursor_.number(word_bytes_);
    parse_dimensions();
    header_.attributes = parse_attributes("a global attribute");
    parse_variables();
    header_.size_bytes = cursor_.at();
    is_streaming_ = n_records == (wide_ ? ~std::uint64_t{0} : 0xFFFFFFFFu);
    if (!is_streaming_ && n_records > kMostIndex) malformed("the number of records is negative");
    header_.n_records = is_streaming_ ? 0 : n_records;
    return std::move(header_);
  }

  /// The writer never knew how many records it would write.
  bool is_streaming() const { return is_streaming_; }

 private:
  void parse_magic() {
    const std::uint64_t magic = cursor_.number(4);
    if (magic >> 8 != 0x434446) malformed("it does not start with CDF");
    header_.version = static_cast<int>(magic & 0xFFu);
    if (header_.version != 1 && header_.version != 2 && header_.version != 5)
      malformed(fmt::format("there is no CDF-{}", header_.version));
    wide_ = header_.version == 5;
    word_bytes_ = wide_ ? 8 : 4;
  }

  std::uint64_t non_negative(const std::string& what) {
    const std::uint64_t value = cursor_.number(word_bytes_);
    if (value > kMostIndex) malformed(what + " is negative");
    return value;
  }

  /// The number of entries of a list, each at least `least_bytes` long.
  std::uint64_t parse_count(std::uint32_t tag, std::uint64_t least_bytes, const std::string& what) {
    const std::uint64_t found = cursor_.number(4);
    const std::uint64_t count = non_negative("the number of " + what);
    if (found != tag && (found != 0 || count != 0))
      malformed(fmt::format("the list of {} starts with {:#x}, not {:#x}", what, found, tag));
    if (count > cursor_.left() / least_bytes)
      malformed(fmt::format("{} {} do not fit the {} bytes left in the file", count, what, cursor_.left()));
    return count;
  }

  std::string parse_name(const std::string& what) {
    const std::uint64_t length = non_negative("the length of a name");
    const std::vector<std::byte> bytes = cursor_.block(length, "the name of " + what);
    std::string name(as_text(bytes));
    if (name.empty()) malformed(what + " has no name");
    if (!is_utf8(name)) malformed(what + " has a name that is not UTF-8");
    if (name.find('\0') != std::string::npos || name.find('/') != std::string::npos)
      malformed(fmt::format("{} has a name that cannot be one, {}", what, quote_name(name)));
    return name;
  }

  NcType parse_type(const std::string& what) {
    const auto code = static_cast<std::uint32_t>(cursor_.number(4));
    const auto type = find_type(code, header_.version);
    if (!type) malformed(fmt::format("{} has type {}, which CDF-{} does not know", what, code, header_.version));
    return *type;
  }

  void parse_dimensions() {
    const std::uint64_t n = parse_count(kDimensionTag, 2 * word_bytes_ + 4, "dimensions");
    std::unordered_set<std::string> names;
    bool has_record = false;
    for (std::uint64_t i = 0; i < n; ++i) {
      Dimension dimension{parse_name("a dimension"), 0, false};
      if (!names.insert(dimension.name).second) malformed("two dimensions are called " + dimension.name);
      dimension.length = static_cast<Index>(non_negative("the length of dimension " + dimension.name));
      dimension.unlimited = dimension.length == 0;
      if (dimension.unlimited && has_record) malformed("two dimensions are unlimited");
      has_record |= dimension.unlimited;
      header_.dimensions.push_back(std::move(dimension));
    }
  }

  std::vector<Attribute> parse_attributes(const std::string& what) {
    const std::uint64_t n = parse_count(kAttributeTag, 2 * word_bytes_ + 8, "attributes");
    std::vector<Attribute> attributes;
    std::unordered_set<std::string> names;
    for (std::uint64_t i = 0; i < n; ++i) {
      Attribute attribute;
      attribute.name = parse_name(what);
      if (!names.insert(attribute.name).second) malformed("two attributes are called " + attribute.name);
      const std::string place = "attribute " + attribute.name;
      const NcType type = parse_type(place);
      const std::uint64_t count = non_negative("the number of values of " + place);
      const std::size_t element_bytes = dtype_of(type).bytes;
      const auto n_bytes = checked_mul<std::uint64_t>(count, element_bytes);
      std::vector<std::byte> raw = cursor_.block(n_bytes.value_or(std::numeric_limits<std::uint64_t>::max()), place);
      attribute.value = value_of(type, static_cast<Index>(count), std::move(raw));
      attributes.push_back(std::move(attribute));
    }
    return attributes;
  }

  static AttributeValue value_of(NcType type, Index count, std::vector<std::byte> raw) {
    AttributeValue value;
    const bool is_text = type == NcType::text;
    value.text_form.fixed = is_text;
    if (count == 0) {
      value.kind = AttributeValue::Kind::empty;
      value.empty_is_text = is_text;
      value.text_form.utf8 = !is_text;
      if (!is_text) value.dtype = dtype_of(type);
      return value;
    }
    if (is_text) {
      value.kind = AttributeValue::Kind::text;
      value.texts.emplace_back(as_text(raw));
      value.text_form.utf8 = std::any_of(raw.begin(), raw.end(), [](std::byte b) { return b >= std::byte{0x80}; });
      return value;
    }
    value.kind = AttributeValue::Kind::numbers;
    value.dtype = dtype_of(type);
    value.shape = Shape{count};
    value.data = std::move(raw);
    const auto word = static_cast<std::ptrdiff_t>(value.dtype.bytes);
    if (kNativeOrder == ByteOrder::little)
      for (auto at = value.data.begin(); at != value.data.end(); at += word) std::reverse(at, at + word);
    return value;
  }

  void parse_variables() {
    const std::size_t begin_bytes = header_.version == 1 ? 4 : 8;
    const std::uint64_t least = 5 * word_bytes_ + 12 + begin_bytes;
    const std::uint64_t n = parse_count(kVariableTag, least, "variables");
    std::unordered_set<std::string> names;
    for (std::uint64_t i = 0; i < n; ++i) {
      Variable variable;
      variable.name = parse_name("a variable");
      if (!names.insert(variable.name).second) malformed("two variables are called " + variable.name);
      try {
        parse_variable_body(variable, begin_bytes);
      } catch (Error& error) {
        throw error.in("variable " + variable.name);
      }
      header_.variables.push_back(std::move(variable));
    }
  }

  void parse_variable_body(Variable& variable, std::size_t begin_bytes) {
    const std::uint64_t rank = non_negative("the number of dimensions");
    if (rank > cursor_.left() / word_bytes_) malformed(fmt::format("{} dimensions do not fit the file", rank));
    if (rank > kMaxRank) throw Error(Code::unsupported, fmt::format("{} dimensions are more than {}", rank, kMaxRank));
    for (std::uint64_t axis = 0; axis < rank; ++axis) {
      const std::uint64_t id = cursor_.number(word_bytes_);
      if (id >= header_.dimensions.size())
        malformed(fmt::format("axis {} lies along dimension {} of {}", axis, id, header_.dimensions.size()));
      const Dimension& dimension = header_.dimensions[static_cast<std::size_t>(id)];
      if (dimension.unlimited && axis > 0)
        malformed(fmt::format("the unlimited dimension {} is not the first", dimension.name));
      variable.dimensions.push_back(static_cast<std::size_t>(id));
    }
    variable.attributes = parse_attributes("an attribute");
    variable.type = parse_type("the variable");
    cursor_.number(word_bytes_);  // vsize
    variable.place.begin_bytes = cursor_.number(begin_bytes);
    if (variable.place.begin_bytes > kMostIndex) malformed("its place in the file is negative");
  }

  Cursor cursor_;
  Header header_;
  bool wide_ = false;
  bool is_streaming_ = false;
  std::size_t word_bytes_ = 4;
};

/// How many records of all record variables the file holds whole.
std::uint64_t whole_records(const Header& header, std::uint64_t file_bytes) {
  std::uint64_t n_records = kMostIndex;
  bool any = false;
  for (const Variable& variable : header.variables) {
    const Place& place = variable.place;
    if (!variable.is_record) continue;
    any = true;
    if (place.begin_bytes > file_bytes || place.slab_bytes > file_bytes - place.begin_bytes) return 0;
    n_records = std::min(n_records, (file_bytes - place.begin_bytes - place.slab_bytes) / place.stride_bytes + 1);
  }
  return any ? n_records : 0;
}

void set_records(Header& header) {
  for (Dimension& dimension : header.dimensions)
    if (dimension.unlimited) dimension.length = static_cast<Index>(header.n_records);
  for (Variable& variable : header.variables)
    if (variable.is_record) variable.place.n_slabs = header.n_records;
}

void check_places(const Header& header) {
  for (const Variable& variable : header.variables) {
    const Place& place = variable.place;
    if (place.n_slabs == 0) continue;
    if (place.begin_bytes < header.size_bytes)
      malformed(fmt::format("variable {} begins at byte {}, inside the header", variable.name, place.begin_bytes));
    const auto records = checked_mul(place.n_slabs, place.stride_bytes);
    const auto end = records ? checked_add(place.begin_bytes, *records) : std::nullopt;
    if (!end || *end > kMostIndex) malformed(fmt::format("variable {} ends beyond 2^63 bytes", variable.name));
  }
}

}  // namespace

Header read_header(const Object& file) {
  HeaderParser parser(file);
  Header header = parser.parse();
  measure(header);
  if (parser.is_streaming()) header.n_records = whole_records(header, file.size_bytes());
  set_records(header);
  check_places(header);
  return header;
}

}  // namespace chunkwise::netcdf3
