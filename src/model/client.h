// Clients: what reads an array, which requests it makes for a chunk, and its own time for it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/device.h"

namespace chunkwise {

/// Where a file keeps the addresses of its chunks.
enum class ChunkIndex {
  b_tree,    // version 1 B-tree: files for any release of HDF5, netCDF-4
  by_shape,  // files for HDF5 1.10 and later only: none, fixed array, extensible array or version 2 B-tree
};

/// Value type. Seconds are of the client's own work with everything cached, on the machine its source names.
struct Client {
  /// plain: nothing is known of the client; the device's constants hold its time (open_s, chunk_s, in_flight).
  enum class Kind { plain, hdf5, zarr };
  /// How a file of a remote store is fetched: as asked for, in aligned blocks that stay, or with so much behind.
  enum class Fetch { exact, blocks, readahead };

  std::string name;
  std::string summary;
  Kind kind = Kind::plain;
  ChunkIndex index = ChunkIndex::b_tree;
  /// HDF5 reads chunks without codecs that are larger than this piece by piece, one request for each run of elements.
  double chunk_cache_bytes = 0;
  /// HDF5 reads at least so much of a contiguous array at a time.
  double sieve_bytes = 0;
  /// Chunks asked for at the same time; requests then overlap with the client's own work.
  double in_flight = 1;
  /// Once per open and read.
  Constant open_s;
  /// Per chunk.
  Constant chunk_s;
  /// Times that decoded bytes are copied before the wanted ones are taken out of them.
  double copies = 0;
  Fetch fetch = Fetch::exact;
  double fetch_bytes = 0;

  bool is_plain() const { return kind == Kind::plain; }
};

std::span<const Client> clients();

/// By name, with options behind a plus sign: "hdf5+blockcache:8MiB", "hdf5+readahead:5MiB", "hdf5+latest" (chunk
/// indexes of files written with libver "latest"), "netcdf+cache:64MiB" (chunk cache). Throws Error{usage} with
/// suggestions.
Client find_client(std::string_view text);

}  // namespace chunkwise
