#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "base/checked.h"
#include "base/error.h"
#include "format/netcdf3/header.h"

namespace chunkwise::netcdf3 {
namespace {

constexpr std::uint64_t kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());

std::uint64_t padding_of(std::uint64_t bytes) {
  return (4 - bytes % 4) % 4;
}

[[noreturn]] void too_large(const Variable& variable) {
  throw Error(Code::corrupt,
              fmt::format("the netCDF header is damaged: variable {} has more than 2^63 bytes", variable.name));
}

/// Adds sizes of which the sum may be too large for any file.
std::uint64_t add(std::uint64_t a, std::uint64_t b) {
  const auto sum = checked_add(a, b);
  if (!sum || *sum > kMost) throw Error(Code::unsupported, "the variables together have more than 2^63 bytes");
  return *sum;
}

/// What a version can count: lengths of dimensions, bytes of a slab that another variable follows, begins.
struct Limits {
  int version;
  std::uint64_t length;
  std::uint64_t slab_bytes;
  std::uint64_t begin_bytes;
  std::uint64_t count;
};
constexpr std::uint64_t k2GiB = std::uint64_t{1} << 31;
constexpr std::array<Limits, 2> kSmall{{
    {1, k2GiB - 4, k2GiB - 4, k2GiB - 1, k2GiB - 1},
    {2, 2 * k2GiB - 4, 2 * k2GiB - 4, kMost, k2GiB - 1},
}};

bool any_wide(const std::vector<Attribute>& attributes, const Limits& limits) {
  return std::any_of(attributes.begin(), attributes.end(), [&](const Attribute& attribute) {
    const AttributeValue& value = attribute.value;
    const std::size_t n_values = value.texts.empty() ? value.data.size() : value.texts.front().size();
    const bool is_number = value.kind == AttributeValue::Kind::numbers ||
                           (value.kind == AttributeValue::Kind::empty && !value.empty_is_text);
    return n_values > limits.count || (is_number && needs_cdf5(find_type(value.dtype).value_or(NcType::u8)));
  });
}

/// Only a variable that no other follows may be larger than its size can say: the last fixed one where there are no
/// records, or the last of the record variables.
bool slabs_fit(const Header& header, const Limits& limits) {
  const bool has_records = header.record_bytes > 0;
  const Variable* last = nullptr;
  for (const Variable& variable : header.variables)
    if (variable.is_record == has_records) last = &variable;
  return std::all_of(header.variables.begin(), header.variables.end(), [&](const Variable& variable) {
    return &variable == last || variable.place.slab_bytes <= limits.slab_bytes;
  });
}

bool fits(const Header& header, const Limits& limits) {
  if (header.n_records >= 2 * k2GiB - 1 || any_wide(header.attributes, limits)) return false;
  for (const Dimension& dimension : header.dimensions)
    if (!dimension.unlimited && static_cast<std::uint64_t>(dimension.length) > limits.length) return false;
  for (const Variable& variable : header.variables)
    if (needs_cdf5(variable.type) || any_wide(variable.attributes, limits) ||
        variable.place.begin_bytes > limits.begin_bytes)
      return false;
  return slabs_fit(header, limits);
}

}  // namespace

void measure(Header& header) {
  std::uint64_t n_record_variables = 0;
  header.record_bytes = 0;
  for (Variable& variable : header.variables) {
    Place& place = variable.place;
    variable.is_record = !variable.dimensions.empty() && header.dimensions[variable.dimensions.front()].unlimited;
    place.slab_bytes = dtype_of(variable.type).bytes;
    for (std::size_t axis = variable.is_record ? 1 : 0; axis < variable.dimensions.size(); ++axis) {
      const auto length = static_cast<std::uint64_t>(header.dimensions[variable.dimensions[axis]].length);
      const auto product = checked_mul(place.slab_bytes, length);
      if (!product || *product > kMost - 4) too_large(variable);
      place.slab_bytes = *product;
    }
    place.padding_bytes = padding_of(place.slab_bytes);
    place.stride_bytes = place.slab_bytes + place.padding_bytes;
    place.n_slabs = variable.is_record ? header.n_records : 1;
    if (!variable.is_record) continue;
    ++n_record_variables;
    const auto sum = checked_add(header.record_bytes, place.stride_bytes);
    if (!sum || *sum > kMost) too_large(variable);
    header.record_bytes = *sum;
  }
  for (Variable& variable : header.variables) {
    if (!variable.is_record) continue;
    // The records of a single record variable follow each other without padding.
    if (n_record_variables == 1) {
      header.record_bytes = variable.place.slab_bytes;
      variable.place.padding_bytes = 0;
    }
    variable.place.stride_bytes = header.record_bytes;
  }
}

std::uint64_t lay_out(Header& header) {
  header.size_bytes = print_header(header).size();
  std::uint64_t at = header.size_bytes;
  for (const bool records : {false, true})
    for (Variable& variable : header.variables) {
      if (variable.is_record != records) continue;
      variable.place.begin_bytes = at;
      at = add(at, variable.place.slab_bytes + variable.place.padding_bytes);
    }
  if (header.n_records == 0) return at - header.record_bytes;
  const auto others = checked_mul(header.record_bytes, header.n_records - 1);
  return add(at, others.value_or(kMost));
}

int least_version(Header header) {
  for (const Limits& limits : kSmall) {
    header.version = limits.version;
    lay_out(header);
    if (fits(header, limits)) return limits.version;
  }
  return 5;
}

}  // namespace chunkwise::netcdf3
