// Sums of 32 bits over bytes. All are pure and thread-safe.
#pragma once

#include <cstdint>

#include "base/bytes.h"

namespace chunkwise {

/// Fletcher's two sums modulo 65535 over the data as big-endian 16-bit words, an odd last byte being the high half of a
/// word.
std::uint32_t fletcher32(ByteView data);
/// Castagnoli's.
std::uint32_t crc32c(ByteView data);
/// zlib's two.
std::uint32_t crc32(ByteView data);
std::uint32_t adler32(ByteView data);
std::uint32_t jenkins_lookup3(ByteView data, std::uint32_t initial);

}  // namespace chunkwise
