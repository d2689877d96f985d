// A file copied byte for byte.
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>

namespace chunkwise {

/// Makes `target`, which must not exist, a copy of `source` and makes it durable. Holes stay holes. `progress` is
/// called with the bytes done. Throws Error{io}, also if the source changed meanwhile, and Error{interrupted}. Returns
/// the bytes copied.
std::uint64_t copy_file(const std::string& source, const std::string& target,
                        const std::function<void(std::uint64_t)>& progress, const std::stop_token& stop);

/// Compares two files, read past the page cache where the system can: every block, or a hundredth of them spread over
/// the file. Throws Error{mismatch} naming the first place that differs, Error{io}, Error{interrupted}. Returns the
/// bytes compared.
std::uint64_t compare_files(const std::string& source, const std::string& target, bool every_block,
                            const std::function<void(std::uint64_t)>& progress, const std::stop_token& stop);

}  // namespace chunkwise
