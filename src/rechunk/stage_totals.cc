#include "rechunk/stage_totals.h"

namespace chunkwise {

StageTotals& StageTotals::operator+=(const StageTotals& other) {
  read_s += other.read_s;
  decode_s += other.decode_s;
  gather_s += other.gather_s;
  encode_s += other.encode_s;
  write_s += other.write_s;
  read_bytes += other.read_bytes;
  decoded_bytes += other.decoded_bytes;
  encoded_bytes += other.encoded_bytes;
  written_bytes += other.written_bytes;
  scratch_written_bytes += other.scratch_written_bytes;
  scratch_read_bytes += other.scratch_read_bytes;
  n_chunks_read += other.n_chunks_read;
  n_chunks_written += other.n_chunks_written;
  n_chunks_absent += other.n_chunks_absent;
  return *this;
}

}  // namespace chunkwise
