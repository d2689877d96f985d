// The element types of the classic formats.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "array/attribute.h"
#include "array/dtype.h"

namespace chunkwise::netcdf3 {

/// The number a file has for a type. Those above 6 exist in CDF-5 only.
enum class NcType : std::uint32_t {
  i1 = 1,
  text = 2,
  i2 = 3,
  i4 = 4,
  f4 = 5,
  f8 = 6,
  u1 = 7,
  u2 = 8,
  u4 = 9,
  i8 = 10,
  u8 = 11,
};

/// The type that number `code` means in a file of this version (1, 2, 5); nothing if none.
std::optional<NcType> find_type(std::uint32_t code, int version);
/// Nothing if the classic formats have no such type.
std::optional<NcType> find_type(const DType& dtype);
DType dtype_of(NcType type);
/// True if only CDF-5 has it.
bool needs_cdf5(NcType type);

/// The value that stands for "never written" unless `_FillValue` says otherwise, as stored: big-endian.
std::vector<std::byte> default_fill(NcType type);
/// The same for a variable with these attributes: `_FillValue` where it is one value of the variable's type.
std::vector<std::byte> fill_of(NcType type, const std::vector<Attribute>& attributes);

}  // namespace chunkwise::netcdf3
