// What this process uses, and how much it may.
#pragma once

#include <cstdint>

namespace chunkwise {

/// Resident set size now / its maximum so far. 0 where the system does not tell.
std::uint64_t resident_bytes();
std::uint64_t peak_resident_bytes();
/// Address space in use now. 0 where the system does not tell.
std::uint64_t mapped_bytes();

/// Gives memory that was freed, and that the allocator keeps for later, back to the system.
void give_back_freed_memory();

/// Memory this process could still get: the least of the machine's available memory, the room under the limits of its
/// cgroup and RLIMIT_AS. Never 0.
std::uint64_t available_memory_bytes();

}  // namespace chunkwise
