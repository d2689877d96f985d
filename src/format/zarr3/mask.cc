#include "format/zarr3/mask.h"

#include <array>
#include <bit>
#include <cstring>

#include "base/base64.h"
#include "base/json.h"

namespace chunkwise::zarr3 {

namespace {

using Kind = DType::Kind;

Json decode_float(const Json& value) {
  if (!value.is_string()) return value;
  const auto bytes = from_base64(value.get_ref<const std::string&>());
  if (!bytes || bytes->size() != sizeof(double)) return value;
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < sizeof(double); ++i) bits |= std::to_integer<std::uint64_t>((*bytes)[i]) << (8 * i);
  return Json(std::bit_cast<double>(bits));
}

Json encode_float(const Json& number) {
  if (!number.is_number()) return number;
  const auto bits = std::bit_cast<std::uint64_t>(number.get<double>());
  std::array<std::byte, sizeof(double)> bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(bits >> (8 * i));
  return Json(to_base64(bytes));
}

bool is_pair(const Json& value, Kind kind) {
  return kind == Kind::complex_ && value.is_array() && value.size() == 2;
}

}  // namespace

Json decode_mask(const Json& spelled, Kind kind) {
  if (is_pair(spelled, kind)) return Json::array({decode_float(spelled[0]), decode_float(spelled[1])});
  return kind == Kind::float_ ? decode_float(spelled) : spelled;
}

Json encode_mask(const Json& value, Kind kind) {
  const bool one_in_a_list = value.is_array() && value.size() == 1;
  const Json& number = one_in_a_list ? value.front() : value;
  if (is_pair(number, kind)) return Json::array({encode_float(number[0]), encode_float(number[1])});
  return kind == Kind::float_ && number.is_number() ? encode_float(number) : value;
}

}  // namespace chunkwise::zarr3
