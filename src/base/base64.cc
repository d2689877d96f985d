#include "base/base64.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace chunkwise {
namespace {

constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint8_t kNoDigit = 0xFF;

constexpr auto kDigits = [] {
  std::array<std::uint8_t, 256> digits{};
  digits.fill(kNoDigit);
  for (std::size_t i = 0; i < kAlphabet.size(); ++i) {
    digits[static_cast<unsigned char>(kAlphabet[i])] = static_cast<std::uint8_t>(i);
  }
  return digits;
}();

std::size_t padding_of(std::string_view text) {
  std::size_t padding = 0;
  while (padding < 2 && padding < text.size() && text[text.size() - 1 - padding] == '=') ++padding;
  return padding;
}

}  // namespace

std::size_t base64_characters(std::size_t n_bytes) {
  return (n_bytes / 3 + (n_bytes % 3 != 0 ? 1 : 0)) * 4;
}

std::size_t base64_bytes(std::string_view text) {
  const std::size_t bytes = text.size() / 4 * 3;
  return bytes - std::min(bytes, padding_of(text));
}

void encode_base64(ByteView bytes, char* text) {
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::size_t n = std::min<std::size_t>(3, bytes.size() - at);
    std::uint32_t group = 0;
    for (std::size_t i = 0; i < 3; ++i)
      group = group << 8 | (i < n ? std::to_integer<std::uint32_t>(bytes[at + i]) : 0);
    for (std::size_t i = 0; i < 4; ++i) *text++ = i <= n ? kAlphabet[(group >> (18 - 6 * i)) & 63] : '=';
  }
}

bool decode_base64(std::string_view text, std::byte* bytes) {
  if (text.size() % 4 != 0) return false;
  const std::size_t padding = padding_of(text);
  for (std::size_t at = 0; at < text.size(); at += 4) {
    const std::size_t digits = at + 4 == text.size() ? 4 - padding : 4;
    std::uint32_t group = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      const std::uint8_t digit = i < digits ? kDigits[static_cast<unsigned char>(text[at + i])] : std::uint8_t{0};
      if (digit == kNoDigit) return false;
      group = group << 6 | digit;
    }
    for (std::size_t i = 0; i + 1 < digits; ++i) *bytes++ = static_cast<std::byte>(group >> (16 - 8 * i));
  }
  return true;
}

std::string to_base64(ByteView bytes) {
  std::string text(base64_characters(bytes.size()), '\0');
  encode_base64(bytes, text.data());
  return text;
}

std::optional<std::vector<std::byte>> from_base64(std::string_view text) {
  std::vector<std::byte> bytes(base64_bytes(text));
  if (!decode_base64(text, bytes.data())) return std::nullopt;
  return bytes;
}

}  // namespace chunkwise
