#include "format/netcdf3/types.h"

#include <algorithm>
#include <array>
#include <bit>

#include "array/hierarchy.h"

namespace chunkwise::netcdf3 {
namespace {

struct TypeRow {
  NcType type;
  DType::Kind kind;
  std::size_t bytes;
  std::uint64_t fill_bits;
};

// netCDF's default fills.
constexpr std::array<TypeRow, 11> kTypes{{
    {NcType::i1, DType::Kind::int_, 1, 0x81},
    {NcType::text, DType::Kind::text, 1, 0},
    {NcType::i2, DType::Kind::int_, 2, 0x8001},
    {NcType::i4, DType::Kind::int_, 4, 0x80000001},
    {NcType::f4, DType::Kind::float_, 4, std::bit_cast<std::uint32_t>(9.9692099683868690e36F)},
    {NcType::f8, DType::Kind::float_, 8, std::bit_cast<std::uint64_t>(9.9692099683868690e36)},
    {NcType::u1, DType::Kind::uint, 1, 0xff},
    {NcType::u2, DType::Kind::uint, 2, 0xffff},
    {NcType::u4, DType::Kind::uint, 4, 0xffffffff},
    {NcType::i8, DType::Kind::int_, 8, 0x8000000000000002},
    {NcType::u8, DType::Kind::uint, 8, 0xfffffffffffffffe},
}};

const TypeRow& row_of(NcType type) {
  return kTypes[static_cast<std::size_t>(type) - 1];
}

}  // namespace

std::optional<NcType> find_type(std::uint32_t code, int version) {
  for (const TypeRow& row : kTypes)
    if (static_cast<std::uint32_t>(row.type) == code && (version == 5 || !needs_cdf5(row.type))) return row.type;
  return std::nullopt;
}

std::optional<NcType> find_type(const DType& dtype) {
  for (const TypeRow& row : kTypes)
    if (row.kind == dtype.kind && row.bytes == dtype.bytes) return row.type;
  return std::nullopt;
}

DType dtype_of(NcType type) {
  return DType{row_of(type).kind, row_of(type).bytes, {}, false};
}

bool needs_cdf5(NcType type) {
  return type > NcType::f8;
}

std::vector<std::byte> default_fill(NcType type) {
  const TypeRow& row = row_of(type);
  std::vector<std::byte> fill(row.bytes);
  for (std::size_t i = 0; i < row.bytes; ++i)
    fill[i] = static_cast<std::byte>(row.fill_bits >> (8 * (row.bytes - 1 - i)));
  return fill;
}

std::vector<std::byte> fill_of(NcType type, const std::vector<Attribute>& attributes) {
  const Attribute* attribute = find_attribute(attributes, "_FillValue");
  if (attribute == nullptr) return default_fill(type);
  const AttributeValue& value = attribute->value;
  if (value.kind == AttributeValue::Kind::text && type == NcType::text && value.texts.front().size() == 1)
    return {static_cast<std::byte>(value.texts.front().front())};
  const DType dtype = dtype_of(type);
  if (value.kind != AttributeValue::Kind::numbers || value.dtype != dtype || value.data.size() != dtype.bytes)
    return default_fill(type);
  std::vector<std::byte> fill = value.data;
  if (kNativeOrder == ByteOrder::little) std::reverse(fill.begin(), fill.end());
  return fill;
}

}  // namespace chunkwise::netcdf3
