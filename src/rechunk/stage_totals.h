// What the stages of a rewrite took.
#pragma once

#include <cstdint>

#include "grid/shape.h"

namespace chunkwise {

/// Seconds are summed over threads, bytes over chunks.
struct StageTotals {
  double read_s = 0;
  double decode_s = 0;  // with the scatter into the tile
  double gather_s = 0;
  double encode_s = 0;
  double write_s = 0;
  std::uint64_t read_bytes = 0;  // encoded
  std::uint64_t decoded_bytes = 0;
  std::uint64_t encoded_bytes = 0;
  std::uint64_t written_bytes = 0;
  std::uint64_t scratch_written_bytes = 0;  // of intermediates, in none of the others but the seconds
  std::uint64_t scratch_read_bytes = 0;
  Index n_chunks_read = 0;
  Index n_chunks_written = 0;
  Index n_chunks_absent = 0;  // target chunks left unwritten because all of them is fill

  StageTotals& operator+=(const StageTotals& other);
};

}  // namespace chunkwise
