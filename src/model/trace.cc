#include "model/trace.h"

#include <algorithm>
#include <cmath>

namespace chunkwise {
namespace {

constexpr double kShardEntry_bytes = 16;
constexpr double kFar_bytes = 1e12;  // another file, or another end of this one

/// Nodes of a chunk index, as a file has them that was written in row-major order.
struct IndexNodes {
  double entries = 1;  // chunks a node of the lowest level names
  double node_bytes = 0;
  double fixed_reads = 0;  // headers and upper levels, read once
  double fixed_bytes = 0;
};

double levels_above(double nodes, double fan_out) {
  return nodes <= 1 ? 0 : std::ceil(std::log(nodes) / std::log(fan_out) - 1e-9);
}

IndexNodes b_tree_1(int rank, double chunks) {
  // 64 entries at most; a full node that grows at its end keeps nine tenths of them.
  constexpr double kMost = 64;
  constexpr double kKept = 57;
  const double key_bytes = 8 + 8.0 * (rank + 1);
  IndexNodes nodes;
  nodes.node_bytes = 24 + (kMost + 1) * key_bytes + kMost * 8;
  nodes.entries = chunks <= kMost ? kMost : kKept;
  nodes.fixed_reads = levels_above(std::ceil(chunks / nodes.entries), kKept);
  nodes.fixed_bytes = nodes.fixed_reads * nodes.node_bytes;
  return nodes;
}

IndexNodes by_shape(int rank, double chunks, int n_growing, bool filtered) {
  constexpr double kPage = 1024;  // entries
  const double entry_bytes = filtered ? 8 + 4 + 4 : 8;
  IndexNodes nodes;
  if (chunks <= 1) {
    nodes.entries = 0;          // the address is in the metadata
  } else if (n_growing == 0) {  // fixed array: header, the block with its pages
    nodes.entries = kPage;
    nodes.node_bytes = std::min(chunks, kPage) * entry_bytes + 4;
    nodes.fixed_reads = chunks <= kPage ? 1 : 2;
    nodes.fixed_bytes = 28 + (chunks <= kPage ? 0 : 19);
  } else if (n_growing == 1) {  // extensible array: header, index block; data blocks grow with the square root
    nodes.entries = std::clamp(4 * std::sqrt(chunks), 16.0, kPage);
    nodes.node_bytes = nodes.entries * entry_bytes + 22;
    nodes.fixed_reads = 2;
    nodes.fixed_bytes = 72 + 298;
  } else {  // version 2 B-tree: header, nodes of 2,048 B that are about two thirds full
    constexpr double kNode_bytes = 2048;
    const double record_bytes = 8.0 + 8.0 * rank + (filtered ? 8 : 0);
    nodes.entries = std::max(2.0, std::floor((kNode_bytes - 10) / record_bytes) * 0.67);
    nodes.node_bytes = kNode_bytes;
    nodes.fixed_reads = 1 + levels_above(std::ceil(chunks / nodes.entries), nodes.entries / 1.5);
    nodes.fixed_bytes = 38 + (nodes.fixed_reads - 1) * kNode_bytes;
  }
  return nodes;
}

/// Blocks or readahead of a remote file's cache instead of the requests themselves.
void fetch_by_cache(const Client& client, Trace& trace) {
  const double block = client.fetch_bytes;
  const bool blocks = client.fetch == Client::Fetch::blocks;
  // A request that begins behind the end of what was fetched last fetches anew. The nearer, the likelier it is there.
  const auto hits = [&](double distance) {
    return blocks ? std::min(1.0, distance / block) : distance < block ? 0.0 : 1.0;
  };
  const double mean_bytes = trace.bytes / trace.requests;
  double fetches = 1;
  double bytes = 0;
  for (std::size_t i = 1; i < trace.n_jumps; ++i) {  // the first leads to the data
    Trace::Jump& jump = trace.jumps[i];
    const double fetched = jump.count * hits(jump.distance_bytes);
    // What lies between comes along.
    bytes += (jump.count - fetched) * jump.distance_bytes;
    fetches += fetched;
    jump.count = fetched;
  }
  if (blocks) {
    trace.calls = fetches + (trace.bytes + bytes) / block;
    trace.bytes = trace.calls * block;
    // Indexes and metadata lie in blocks of their own, of which data comes along.
    const double index_blocks = trace.index_reads * std::min(1.0, trace.index_distance_bytes / block);
    trace.index_reads = index_blocks;
    trace.index_bytes = index_blocks * block;
  } else {
    // Long requests are fetched whole, with so much behind.
    const double follow =
        mean_bytes > block ? trace.bytes / mean_bytes : std::max(1.0, (trace.bytes + bytes) / (mean_bytes + block));
    trace.calls = std::max(fetches, follow);
    trace.bytes += bytes + fetches * block;
    trace.index_bytes += trace.index_reads * block;
  }
  trace.requests = fetches;
}

/// The nodes that name the chunks of `trace`, whose first jump leads to the data.
void trace_index(const StoredArray& array, const Client& client, std::span<const AxisTouch> axes, double unit_bytes,
                 double all_units, Trace& trace) {
  if (client.kind == Client::Kind::zarr) return;  // a zip file: its directory is part of opening
  const int rank = static_cast<int>(axes.size());
  const bool by_the_shape = client.kind == Client::Kind::hdf5 && client.index == ChunkIndex::by_shape;
  const IndexNodes nodes = by_the_shape ? by_shape(rank, all_units, array.n_growing_axes, array.decode.s_per_byte > 0)
                                        : b_tree_1(rank, all_units);
  if (nodes.entries < 1) return;
  // Entries are in row-major order too: a node for so many chunks in a row, and another where the gap to the next is
  // longer than what is left of it.
  double leaves = 1;
  for (std::size_t i = 1; i < trace.n_jumps; ++i) {
    const auto& jump = trace.jumps[i];
    leaves += jump.count * std::min(1.0, (jump.distance_bytes / unit_bytes + 1) / nodes.entries);
  }
  leaves += (trace.chunks - trace.requests) / nodes.entries;
  leaves = std::min(leaves, std::ceil(all_units / nodes.entries));
  trace.index_reads = leaves + nodes.fixed_reads;
  trace.index_bytes = leaves * nodes.node_bytes + nodes.fixed_bytes;
  trace.index_distance_bytes = std::max(nodes.node_bytes, nodes.entries * unit_bytes);
}

}  // namespace

std::string usual_client(Placement placement) {
  return placement == Placement::one_object ? "zarr-python" : "hdf5";
}

SieveReads sieve_reads(std::span<const AxisTouch> axes, std::size_t element_bytes, double sieve_bytes) {
  // Runs of `run` bytes, in nested levels of so many steps each.
  struct Level {
    double n, stride;
  };
  std::array<Level, kMaxRank> levels{};  // from the fastest on
  std::size_t n_levels = 0;
  double stride = static_cast<double>(element_bytes);
  double run = stride;
  bool whole = true;  // all behind is part of the run
  for (std::size_t i = axes.size(); i-- > 0;) {
    const AxisTouch& axis = axes[i];
    if (whole && axis.step == 1) {
      run = axis.wanted * stride;
    } else if (axis.wanted > 1) {
      levels[n_levels++] = {axis.wanted, axis.step * stride};
    }
    whole = whole && axis.step == 1 && axis.wanted == axis.length;
    stride *= axis.length;
  }
  double runs = 1;
  for (std::size_t i = 0; i < n_levels; ++i) runs *= levels[i].n;
  SieveReads reads;
  double last_end = 0;
  if (run > sieve_bytes || runs == 1) {
    const double first = run > sieve_bytes ? run : std::max(run, sieve_bytes);
    double end = 0;
    for (std::size_t i = 0; i < n_levels; ++i) end += (levels[i].n - 1) * levels[i].stride;
    reads.requests = runs;
    reads.bytes = runs * first;
    if (runs > 1) reads.distance_bytes = std::max(0.0, (end - (runs - 1) * run) / (runs - 1));
    return reads;
  }
  constexpr double kMostSteps = 1e6;
  std::array<double, kMaxRank> at{};  // the run that is read next, by level
  double covered = 0;                 // runs
  double distances = 0;
  while (true) {
    double begin = 0;
    for (std::size_t i = 0; i < n_levels; ++i) begin += at[i] * levels[i].stride;
    if (reads.requests > 0) distances += std::max(0.0, begin - last_end);
    reads.requests += 1;
    last_end = begin + sieve_bytes;
    // On to the first run that does not end before last_end: over whole levels where they are covered.
    bool more = true;
    while (more) {
      double here = 0;
      for (std::size_t i = 0; i < n_levels; ++i) here += at[i] * levels[i].stride;
      if (here + run > last_end) break;
      // Steps of the fastest level that still end inside.
      const Level& fast = levels[0];
      const double steps = std::min(fast.n - at[0], std::floor((last_end - run - here) / fast.stride) + 1);
      covered += steps;
      at[0] += steps;
      more = false;
      for (std::size_t i = 0; i < n_levels; ++i) {
        if (at[i] < levels[i].n) {
          more = true;
          break;
        }
        at[i] = 0;
        if (i + 1 < n_levels) at[i + 1] += 1;
      }
    }
    if (!more) break;
    if (reads.requests >= kMostSteps) {
      const double scale = runs / covered;
      reads.requests *= scale;
      distances *= scale;
      break;
    }
  }
  reads.bytes = reads.requests * sieve_bytes;
  reads.distance_bytes = reads.requests > 1 ? distances / (reads.requests - 1) : 0;
  return reads;
}

double runs_in_chunks(std::span<const AxisTouch> axes) {
  double runs = 1;
  double whole = 1;  // parts behind the axis that are one run, of a whole chunk
  for (std::size_t i = axes.size(); i-- > 0;) {
    const AxisTouch& axis = axes[i];
    // Elements of one axis follow each other; with steps each stands alone.
    const double together = axis.step == 1 || axis.chunk == 1 ? axis.chunks : axis.wanted;
    runs = together * whole + axis.wanted * (runs - whole);
    // Elements that follow each other in the file must do so in memory, too: the part is all that is wanted.
    whole *= axis.wanted == axis.chunk ? axis.whole : 0.0;
  }
  return runs;
}

void trace_read(const StoredArray& array, const TraceBase& base, std::span<const AxisTouch> axes, double chunk_elements,
                Trace& trace) {
  static const Client kPlain = find_client("plain");
  const Client& client = array.client != nullptr ? *array.client : kPlain;
  const bool chunked = array.chunk.has_value();
  const bool objects = array.placement == Placement::one_object;
  const auto element_bytes = static_cast<double>(array.element_bytes);
  double units = 1;
  double covered = 1;
  double all_units = 1;
  for (const auto& axis : axes) {
    units *= axis.chunks;
    covered *= axis.elements;
    all_units *= axis.all_chunks;
  }
  const bool stores_padding = array.pads_edges && !array.decode.compresses;
  trace.useful_bytes = base.useful_bytes;
  trace.chunks = chunked ? units : 1;
  trace.decoded_bytes = array.pads_edges && chunked ? units * chunk_elements * element_bytes : covered * element_bytes;
  trace.bytes = (stores_padding && chunked ? trace.decoded_bytes : covered * element_bytes) * array.stored_ratio;
  trace.metadata_reads = 1;
  trace.in_flight = client.in_flight;
  const double unit_bytes = chunk_elements * element_bytes * array.stored_ratio;

  if (objects) {
    trace.requests = trace.calls = units;
    trace.objects = units;
    if (array.shard) {
      // Each shard is opened for its index, then each chunk is a range of it.
      trace.index_reads = base.shards;
      trace.index_bytes = base.shards * kShardEntry_bytes * base.shard_elements / chunk_elements;
      trace.index_distance_bytes = kFar_bytes;
      trace.objects = base.shards;
      trace.add_jump(units, unit_bytes);
    } else {
      trace.add_jump(units, kFar_bytes);
    }
    return;
  }
  if (!chunked && client.sieve_bytes > 0) {
    const SieveReads sieve = sieve_reads(axes, array.element_bytes, client.sieve_bytes);
    double array_bytes = element_bytes;
    for (const auto& axis : axes) array_bytes *= axis.length;
    trace.requests = trace.calls = sieve.requests;
    trace.bytes = std::min(sieve.bytes, sieve.requests * array_bytes);
    trace.add_jump(1, array_bytes / 3);
    if (sieve.requests > 1) trace.add_jump(sieve.requests - 1, sieve.distance_bytes);
    if (client.fetch != Client::Fetch::exact) fetch_by_cache(client, trace);
    return;
  }
  trace.requests = 1;
  trace.add_jump(1, unit_bytes * all_units / 3);  // from the metadata to the first of the data
  visit_gaps(axes, [&](double count, double gap_units) {
    trace.requests += count;
    trace.add_jump(count, gap_units * unit_bytes);
  });
  trace.calls = chunked ? units : trace.requests;
  if (chunked) {
    trace_index(array, client, axes, unit_bytes, all_units, trace);
    const bool piecewise = client.chunk_cache_bytes > 0 && array.decode.s_per_byte == 0 && !array.decode.compresses &&
                           chunk_elements * element_bytes > client.chunk_cache_bytes;
    if (piecewise) {
      const double pieces = runs_in_chunks(axes);
      const double read_bytes = trace.bytes;
      trace.calls = pieces;
      trace.bytes = trace.decoded_bytes = trace.useful_bytes;
      if (pieces > trace.requests && read_bytes > trace.bytes) {
        trace.add_jump(pieces - trace.requests, (read_bytes - trace.bytes) / pieces);
        trace.requests = pieces;
      }
    }
  }
  if (client.fetch != Client::Fetch::exact) fetch_by_cache(client, trace);
}

}  // namespace chunkwise
