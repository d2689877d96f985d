#include <algorithm>

#include "base/error.h"
#include "format/netcdf3/header.h"

namespace chunkwise::netcdf3 {
namespace {

class HeaderPrinter {
 public:
  explicit HeaderPrinter(const Header& header) : header_(header), word_bytes_(header.version == 5 ? 8 : 4) {}

  std::string print() {
    out_ = "CDF";
    out_ += static_cast<char>(header_.version);
    number(header_.n_records, word_bytes_);
    list(0x0A, header_.dimensions.size());
    for (const Dimension& dimension : header_.dimensions) {
      name(dimension.name);
      number(dimension.unlimited ? 0 : static_cast<std::uint64_t>(dimension.length), word_bytes_);
    }
    attributes(header_.attributes);
    list(0x0B, header_.variables.size());
    for (const Variable& variable : header_.variables) {
      name(variable.name);
      number(variable.dimensions.size(), word_bytes_);
      for (const std::size_t id : variable.dimensions) number(id, word_bytes_);
      attributes(variable.attributes);
      number(static_cast<std::uint64_t>(variable.type), 4);
      number(vsize(variable), word_bytes_);
      number(variable.place.begin_bytes, header_.version == 1 ? 4 : 8);
    }
    return std::move(out_);
  }

 private:
  void number(std::uint64_t value, std::size_t n_bytes) {
    for (std::size_t i = n_bytes; i-- > 0;) out_ += static_cast<char>(value >> (8 * i));
  }

  void pad() { out_.append((4 - out_.size() % 4) % 4, '\0'); }

  void list(std::uint32_t tag, std::size_t count) {
    number(count == 0 ? 0 : tag, 4);
    number(count, word_bytes_);
  }

  void name(const std::string& text) {
    number(text.size(), word_bytes_);
    out_ += text;
    pad();
  }

  void attributes(const std::vector<Attribute>& attributes) {
    list(0x0C, attributes.size());
    for (const Attribute& attribute : attributes) {
      const AttributeValue& value = attribute.value;
      name(attribute.name);
      if (value.kind == AttributeValue::Kind::text || value.empty_is_text) {
        const std::string& text = value.texts.empty() ? std::string() : value.texts.front();
        number(static_cast<std::uint64_t>(NcType::text), 4);
        number(text.size(), word_bytes_);
        out_ += text;
      } else {
        const auto type = find_type(value.dtype);
        CHUNKWISE_CHECK(type.has_value());
        number(static_cast<std::uint64_t>(*type), 4);
        number(value.data.size() / value.dtype.bytes, word_bytes_);
        numbers(value);
      }
      pad();
    }
  }

  void numbers(const AttributeValue& value) {
    const std::size_t word = value.dtype.bytes;
    for (std::size_t at = 0; at < value.data.size(); at += word)
      for (std::size_t i = 0; i < word; ++i)
        out_ += static_cast<char>(value.data[at + (kNativeOrder == ByteOrder::little ? word - 1 - i : i)]);
  }

  std::uint64_t vsize(const Variable& variable) const {
    // Padded also where the records of a single record variable are not.
    const std::uint64_t bytes = variable.place.slab_bytes + (4 - variable.place.slab_bytes % 4) % 4;
    return header_.version == 5 ? bytes : std::min<std::uint64_t>(bytes, 0xFFFFFFFFu);
  }

  const Header& header_;
  const std::size_t word_bytes_;
  std::string out_;
};

}  // namespace

std::string print_header(const Header& header) {
  return HeaderPrinter(header).print();
}

}  // namespace chunkwise::netcdf3
