#include "array/dtype.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/checked.h"
#include "base/error.h"

namespace chunkwise {
namespace {

constexpr std::size_t kMaxStructureBytes = std::size_t{1} << 31;

struct NamedType {
  std::string_view short_name;
  std::string_view numpy_name;
  DType::Kind kind;
  std::size_t bytes;
};

constexpr std::array<NamedType, 14> kNamedTypes{{
    {"bool", "bool", DType::Kind::boolean, 1},
    {"i1", "int8", DType::Kind::int_, 1},
    {"i2", "int16", DType::Kind::int_, 2},
    {"i4", "int32", DType::Kind::int_, 4},
    {"i8", "int64", DType::Kind::int_, 8},
    {"u1", "uint8", DType::Kind::uint, 1},
    {"u2", "uint16", DType::Kind::uint, 2},
    {"u4", "uint32", DType::Kind::uint, 4},
    {"u8", "uint64", DType::Kind::uint, 8},
    {"f2", "float16", DType::Kind::float_, 2},
    {"f4", "float32", DType::Kind::float_, 4},
    {"f8", "float64", DType::Kind::float_, 8},
    {"c8", "complex64", DType::Kind::complex_, 8},
    {"c16", "complex128", DType::Kind::complex_, 16},
}};

std::string unit_name(const DType& dtype) {
  if (dtype.unit == "generic") return {};
  return dtype.n_units == 1 ? fmt::format("[{}]", dtype.unit) : fmt::format("[{}{}]", dtype.n_units, dtype.unit);
}

}  // namespace

bool DType::is_number() const {
  return kind == Kind::boolean || kind == Kind::int_ || kind == Kind::uint || kind == Kind::float_;
}

ElementSize DType::element() const {
  switch (kind) {
    case Kind::boolean:
    case Kind::int_:
    case Kind::uint:
    case Kind::float_:
    case Kind::datetime:
    case Kind::timedelta:
      return {bytes, bytes};
    case Kind::complex_:
      return {bytes, bytes / 2};
    case Kind::utf32:
      return {bytes, 4};
    case Kind::text:
    case Kind::raw:
    case Kind::structured:
    case Kind::string:
    case Kind::list:
    case Kind::object:
    case Kind::other:
      break;
  }
  return {bytes, 1};
}

std::string DType::name() const {
  if (!names.empty()) return fmt::format("enum of {} members", names.size());
  for (const NamedType& known : kNamedTypes) {
    if (known.kind == kind && known.bytes == bytes) return std::string(known.short_name);
  }
  switch (kind) {
    case Kind::complex_:
      return fmt::format("c{}", bytes);
    case Kind::text:
      return fmt::format("S{}", bytes);
    case Kind::utf32:
      return fmt::format("U{}", bytes / 4);
    case Kind::raw:
      return fmt::format("V{}", bytes);
    case Kind::datetime:
      return "M8" + unit_name(*this);
    case Kind::timedelta:
      return "m8" + unit_name(*this);
    case Kind::structured: {
      const auto n = std::count_if(members.begin(), members.end(), [](const Member& m) { return !m.name.empty(); });
      return fmt::format("compound of {} members", n);
    }
    case Kind::string:
      return "string";
    case Kind::list:
      return "list of " + item().name();
    default:
      return other.empty() ? fmt::format("{}-byte type", bytes) : other;
  }
}

bool operator==(const DType& a, const DType& b) {
  return a.kind == b.kind && a.bytes == b.bytes && a.other == b.other && a.refers == b.refers && a.unit == b.unit &&
         a.n_units == b.n_units && a.members == b.members && a.names == b.names && a.item_kind == b.item_kind &&
         a.item_bytes == b.item_bytes;
}

std::size_t DType::Member::bytes() const {
  return type.bytes * static_cast<std::size_t>(product(shape));
}

DType DType::item() const {
  return DType(item_kind, item_bytes);
}

DType string_type() {
  return DType(DType::Kind::string, kVaryingBytes);
}

DType list_type(const DType& item) {
  DType dtype = DType(DType::Kind::list, kVaryingBytes);
  dtype.item_kind = item.kind;
  dtype.item_bytes = item.bytes;
  return dtype;
}

std::optional<DType> parse_dtype(std::string_view name) {
  for (const NamedType& known : kNamedTypes) {
    if (known.short_name == name || known.numpy_name == name) return DType(known.kind, known.bytes);
  }
  return std::nullopt;
}

DType structured_type(std::vector<DType::Member> members) {
  DType dtype(DType::Kind::structured, 0);
  for (const DType::Member& member : members) {
    const auto n = checked_product(member.shape);
    const auto bytes = n ? checked_mul(static_cast<std::uint64_t>(*n), std::uint64_t{member.type.bytes}) : std::nullopt;
    if (!bytes || *bytes > kMaxStructureBytes || dtype.bytes + *bytes > kMaxStructureBytes)
      throw Error(Code::corrupt, "a structured data type is larger than 2^31 bytes");
    dtype.bytes += static_cast<std::size_t>(*bytes);
  }
  if (dtype.bytes == 0) throw Error(Code::corrupt, "a structured data type has no bytes");
  dtype.members = std::move(members);
  return dtype;
}

std::optional<ByteOrder> common_byte_order(const DType& dtype) {
  std::optional<ByteOrder> common;
  for (const DType::Member& member : dtype.members) {
    if (!has_byte_order(member.type)) continue;
    const auto order = member.type.kind == DType::Kind::structured ? common_byte_order(member.type)
                                                                   : std::optional<ByteOrder>(member.byte_order);
    if (!order || (common && *common != *order)) return std::nullopt;
    common = order;
  }
  return common;
}

bool has_byte_order(const DType& dtype) {
  return dtype.element().word_bytes > 1 ||
         std::any_of(dtype.members.begin(), dtype.members.end(),
                     [](const DType::Member& member) { return has_byte_order(member.type); });
}

void set_member_order(DType& dtype, ByteOrder order) {
  for (DType::Member& member : dtype.members) {
    member.byte_order = order;
    set_member_order(member.type, order);
  }
}

void swap_words(const DType& dtype, MutableByteView elements) {
  swap_words(dtype.element().word_bytes, elements);
}

void swap_words(std::size_t word_bytes, MutableByteView elements) {
  const auto word = static_cast<std::ptrdiff_t>(word_bytes);
  for (std::size_t at = 0; word_bytes > 1 && at + word_bytes <= elements.size(); at += word_bytes) {
    const auto begin = elements.begin() + static_cast<std::ptrdiff_t>(at);
    std::reverse(begin, begin + word);
  }
}

void reorder_members(const DType& from, const DType& to, MutableByteView elements) {
  CHUNKWISE_CHECK(from.bytes == to.bytes && from.members.size() == to.members.size());
  for (std::size_t at = 0; at + from.bytes <= elements.size(); at += from.bytes) {
    std::size_t offset = at;
    for (std::size_t i = 0; i < from.members.size(); ++i) {
      const DType::Member& a = from.members[i];
      const DType::Member& b = to.members[i];
      const MutableByteView values = elements.subspan(offset, a.bytes());
      if (a.type.kind == DType::Kind::structured) {
        reorder_members(a.type, b.type, values);
      } else if (a.byte_order != b.byte_order) {
        swap_words(a.type, values);
      }
      offset += a.bytes();
    }
  }
}

}  // namespace chunkwise
