// Sizes and durations as people write and read them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace chunkwise {

/// "64MiB", "1.5G", "4096", "2KiB" -> bytes. K, M, G, T and kB, MB, ... are powers of 1000; KiB, MiB, ... of 1024.
/// Throws Error{usage} that quotes the text.
std::uint64_t parse_bytes(std::string_view text);

/// 1536 -> "1.5 KiB"; exact powers without a fraction ("64 MiB"); below 1 KiB "17 B".
std::string format_bytes(std::uint64_t bytes);

/// Four significant figures at most with a fitting unit: "12.1 ms", "3.4 s", "2 min 5 s", "4.2 h".
std::string format_seconds(double seconds);

/// 98128 -> "98,128".
std::string format_count(std::int64_t n);

}  // namespace chunkwise
