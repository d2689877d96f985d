#include "format/zarr3/mask.h"

#include <array>
#include <bit>
#include <cstring>

#include "base/base64.h"
#include "base/json.h"

namespace chunkwise::zarr3 {

std::optional<double> decode_mask(const Json& value) {
  if (!value.is_string()) return std::nullopt;
  const auto bytes = from_base64(value.get_ref<const std::string&>());
  if (!bytes || bytes->size() != sizeof(double)) return std::nullopt;
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < sizeof(double); ++i) bits |= std::to_integer<std::uint64_t>((*bytes)[i]) << (8 * i);
  return std::bit_cast<double>(bits);
}

Json encode_mask(const Json& value) {
  const bool one_in_a_list = value.is_array() && value.size() == 1;
  const Json& number = one_in_a_list ? value.front() : value;
  if (!number.is_number()) return value;
  const auto bits = std::bit_cast<std::uint64_t>(number.get<double>());
  std::array<std::byte, sizeof(double)> bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(bits >> (8 * i));
  return Json(to_base64(bytes));
}

}  // namespace chunkwise::zarr3
