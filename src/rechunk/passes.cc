#include "rechunk/passes.h"

#include <fmt/format.h>

#include <algorithm>

#include "array/element_change.h"
#include "array/shard_sink.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/sizes.h"
#include "rechunk/shard_blocks.h"
#include "rechunk/tiling.h"

namespace chunkwise {
namespace {

constexpr std::uint64_t kMiB = 1u << 20;
/// A thread's stack and the allocator's own room for it.
constexpr std::uint64_t kThreadBytes = 640u << 10;
/// The least for what elements refer to, when their format moves them; a long list may need more.
constexpr std::uint64_t kReferred_bytes = 4 * kMiB;
constexpr std::uint64_t kUsefulReferred_bytes = 64 * kMiB;
/// Tiles in flight have this much if it is there, so that many small ones do not wait for each other.
constexpr std::uint64_t kLeastTiles_bytes = 32 * kMiB;

struct Needs {
  CodecChain::ScratchNeed worker;
  std::uint64_t least_tile_bytes = 0;
  std::uint64_t largest_read_bytes = 0;
};

/// True if the stored chunks of the source can become the target's as they are.
bool copies_encoded(const ArrayMeta& source, const ArrayMeta& target) {
  if (source.storage == Storage::contiguous && target.storage == Storage::contiguous)
    return source.dtype == target.dtype && source.layout == target.layout && source.shape == target.shape &&
           source.n_stored_chunks > 0;
  return same_encoding(source, target) &&
         (source.fill == target.fill || source.n_stored_chunks == source.grid().n_chunks());
}

/// Elements that the format moves: it holds some chunks of both sides, decoded and encoded, and what they refer to.
void needs_by_format(const ArrayMeta& source, const ArrayMeta& target, Needs& needs, ArrayPlan& plan) {
  plan.kind = ArrayPlan::Kind::by_format;
  needs.least_tile_bytes = saturating_mul(2, source.chunk_bytes()) + saturating_mul(2, target.chunk_bytes());
  needs.least_tile_bytes += kReferred_bytes;
  plan.tile = target.chunk;
  plan.n_tiles = plan.n_target_chunks;
  plan.tile_bytes = needs.least_tile_bytes;
  plan.n_source_reads = source.n_stored_chunks;
  plan.read_bytes = source.stored_bytes;
  plan.decoded_bytes = shape_bytes(target.shape, target.dtype.bytes);
}

/// Elements of any length: how long they are is known only when they are read, so this is a guess.
void needs_elements(const ArrayMeta& source, const ArrayMeta& target, Needs& needs, ArrayPlan& plan) {
  constexpr std::uint64_t kShares = 4;         // see element_copy.cc
  constexpr std::uint64_t kDecodedFactor = 4;  // of an encoded chunk
  constexpr std::size_t kTypicalStream_bytes = 1u << 20;
  if (source.dtype.kind == DType::Kind::object)
    throw Error(Code::unsupported, fmt::format("{} can only be copied as they are stored", source.dtype.name()),
                "keep chunks and codecs, or leave the array out with --exclude");
  plan.kind = ArrayPlan::Kind::elements;
  const std::uint64_t typical =
      source.stored_bytes / static_cast<std::uint64_t>(std::max<Index>(source.n_stored_chunks, 1));
  const std::uint64_t tables = saturating_mul(2, source.chunk_bytes()) + saturating_mul(2, target.chunk_bytes());
  // Where elements refer, the format runs its codecs itself.
  const auto chain_of = [](const ArrayMeta& meta) {
    return meta.dtype.refers ? CodecChain() : CodecChain(meta.codecs, meta.dtype.codec_bytes());
  };
  const CodecChain decode = chain_of(source);
  const CodecChain encode = chain_of(target);
  encode.require_lossless();
  const std::uint64_t of_codecs = std::max(decode.scratch_need(kTypicalStream_bytes).codec_bytes,
                                           encode.scratch_need(kTypicalStream_bytes).codec_bytes);
  needs.least_tile_bytes = saturating_mul(kShares, tables) + saturating_mul(kShares * kDecodedFactor, typical) +
                           kShares * of_codecs + kReferred_bytes;
  plan.tile = target.chunk;
  plan.n_tiles = plan.n_target_chunks;
  plan.n_source_reads = source.n_stored_chunks;
  plan.read_bytes = source.stored_bytes;
  plan.decoded_bytes = shape_bytes(target.shape, target.dtype.bytes);
}

/// Fills what does not depend on the memory; throws for codecs that cannot run.
Needs needs_of(const ArrayMeta& source, const ArrayMeta& target, ArrayPlan& plan) {
  Needs needs;
  plan.path = target.path;
  plan.n_target_chunks = target.grid().n_chunks();
  plan.source_chunk = source.chunk;
  // Nothing to move: no elements, or none ever written and both sides read them alike.
  const bool by_format = source.dtype.refers && target.dtype.refers;
  const bool same_fill = by_format || (source.dtype.is_varying() ? source.fill == target.fill
                                                                 : fill_as(source, target) ==
                                                                       fill_in_order(target, target.layout.byte_order));
  const bool empty =
      product(target.shape) == 0 || target.storage == Storage::virtual_ || (source.n_stored_chunks == 0 && same_fill);
  if (!empty && by_format) {
    needs_by_format(source, target, needs, plan);
    return needs;
  }
  if (!empty && source.dtype.is_varying() && !copies_encoded(source, target)) {
    needs_elements(source, target, needs, plan);
    return needs;
  }
  if (empty || copies_encoded(source, target)) {
    plan.kind = empty ? ArrayPlan::Kind::nothing : ArrayPlan::Kind::copy_chunks;
    if (empty) return needs;
    plan.source_chunk = target.chunk;
    plan.block = block_of(target, target.unit());
    plan.n_tiles = plan.n_target_chunks;
    plan.n_source_reads = plan.n_target_chunks;
    plan.tile = target.chunk;
    plan.read_bytes = source.stored_bytes;
    plan.decoded_bytes = shape_bytes(target.shape, target.dtype.bytes);
    plan.block_bytes = block_bytes(target, plan.block);
    const std::uint64_t typical =
        source.stored_bytes / static_cast<std::uint64_t>(std::max<Index>(source.n_stored_chunks, 1));
    // Nothing is decoded, so a codec that cannot run here is no obstacle; twice the chunk bounds all real codecs.
    needs.largest_read_bytes = std::max<std::uint64_t>(typical, saturating_mul(source.chunk_bytes(), 2)) + 64 * 1024;
    plan.largest_read_bytes = needs.largest_read_bytes;
    return needs;
  }
  plan.kind = ArrayPlan::Kind::rewrite;
  const CodecChain decode(source.codecs, source.dtype.bytes);
  const CodecChain encode(target.codecs, target.dtype.bytes);
  encode.require_lossless();
  const Shape least = clip(target.chunk, target.shape);
  const Shape cut = source.storage != Storage::contiguous ? source.chunk : linear_cut(source, least);
  const std::uint64_t source_bytes = shape_bytes(cut, source.dtype.bytes);
  const std::uint64_t target_bytes = target.chunk_bytes();
  needs.largest_read_bytes = decode.max_encoded_bytes(source_bytes) + 64 * 1024;
  const CodecChain::ScratchNeed to_decode = decode.scratch_need(source_bytes);
  const CodecChain::ScratchNeed to_encode = encode.scratch_need(target_bytes);
  needs.worker = largest(to_decode, to_encode);
  needs.worker.codec_bytes = to_decode.codec_bytes + to_encode.codec_bytes;
  if (!ElementChange(source, target).empty()) needs.worker.codec_bytes += source_bytes;  // Worker::changed
  needs.least_tile_bytes = shape_bytes(least, target.dtype.bytes) + bookkeeping_bytes(source, cut, least);
  plan.largest_read_bytes = needs.largest_read_bytes;
  plan.decoded_bytes = shape_bytes(target.shape, target.dtype.bytes);
  return needs;
}

/// Chooses all tiles for a read-ahead of this size; `room_bytes` is for tiles and what the read-ahead has above its
/// least.
void choose_tiles(const std::vector<PlanInput>& arrays, std::uint64_t read_ahead_bytes, std::uint64_t least_read_ahead,
                  std::uint64_t room_bytes, Plan& plan) {
  plan.read_ahead_bytes = read_ahead_bytes;
  const std::uint64_t most_bytes = room_bytes - (read_ahead_bytes - least_read_ahead);
  plan.tile_room_bytes = most_bytes;
  std::uint64_t useful_bytes = 0;
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    ArrayPlan& array = plan.arrays[i];
    if (array.kind == ArrayPlan::Kind::by_format) useful_bytes = std::max(useful_bytes, kUsefulReferred_bytes);
    // One encoded chunk may be nearly all there is.
    if (array.kind == ArrayPlan::Kind::copy_chunks && arrays[i].source->dtype.is_varying())
      useful_bytes = std::max(useful_bytes, saturating_mul(array.read_bytes, 2));
    if (array.kind != ArrayPlan::Kind::rewrite) continue;
    const ArrayMeta& source = *arrays[i].source;
    const ArrayMeta& target = *arrays[i].target;
    set_tile(source, target, choose_tile(source, target, most_bytes, plan.shards_bytes), most_bytes, array);
    const std::uint64_t n_useful = useful_tiles(source, target, array, plan.n_threads);
    // Where one tile has too few chunks for all threads, smaller ones are worth a few percent more reads.
    if (saturating_mul(n_useful, array.tile_bytes) > most_bytes) {
      ArrayPlan smaller = array;
      const std::uint64_t share = most_bytes / n_useful;
      set_tile(source, target, choose_tile(source, target, share, plan.shards_bytes), share, smaller);
      if (smaller.tile_bytes < array.tile_bytes &&
          static_cast<double>(smaller.n_source_reads) <= 1.03 * static_cast<double>(array.n_source_reads))
        array = smaller;
    }
    useful_bytes = std::max(useful_bytes, saturating_mul(n_useful, array.tile_bytes));
  }
  // Memory that is not used need not be fetched from the system.
  plan.tiles_bytes = std::min(most_bytes, std::max(useful_bytes, kLeastTiles_bytes));
  for (ArrayPlan& array : plan.arrays) {
    if (array.kind == ArrayPlan::Kind::by_format) array.tile_bytes = plan.tiles_bytes;
    if (array.kind == ArrayPlan::Kind::elements) array.tile_bytes = most_bytes;
  }
}

double total_reads(const Plan& plan) {
  double bytes = 0;
  for (const ArrayPlan& array : plan.arrays)
    if (array.kind == ArrayPlan::Kind::rewrite) bytes += static_cast<double>(array.decoded_bytes) * array.passes;
  return bytes;
}

/// Memory for shards that are being written.
struct ShardNeed {
  std::uint64_t least_bytes = 0;  // one at a time
  std::uint64_t all_bytes = 0;    // all of an array at once
  std::uint64_t finishing_bytes = 0;

  void add(const ArrayMeta& target) {
    if (target.shards.empty()) return;
    least_bytes = std::max(least_bytes, block_bytes(target, target.unit()));
    all_bytes = std::max(all_bytes, block_bytes(target, target.shape));
    finishing_bytes = std::max(finishing_bytes, ShardSink::finishing_bytes(target));
  }
  std::string text() const {
    return least_bytes == 0 ? "" : fmt::format("one shard's index {}, ", format_bytes(least_bytes + finishing_bytes));
  }
};

}  // namespace

CodecChain::ScratchNeed largest(const CodecChain::ScratchNeed& a, const CodecChain::ScratchNeed& b) {
  return {std::max(a.a_bytes, b.a_bytes), std::max(a.b_bytes, b.b_bytes), std::max(a.codec_bytes, b.codec_bytes)};
}

Plan plan_passes(const std::vector<PlanInput>& arrays, const PlanRequest& request, const Reserve& reserve) {
  Plan plan;
  plan.memory_bytes = request.memory_bytes;
  plan.base_bytes = request.base_bytes;
  plan.allows_loss = request.allows_loss;
  plan.proves_all = request.proves_all;
  plan.n_threads = std::max(1, request.n_threads);
  CodecChain::ScratchNeed worker_need;
  ShardNeed shards;
  std::uint64_t least_tile = 0;
  std::uint64_t largest_read = std::max<std::uint64_t>(64 * 1024, reserve.largest_read_bytes);
  std::string largest_path;
  for (const PlanInput& input : arrays) {
    ArrayPlan& array = plan.arrays.emplace_back();
    Needs needs;
    try {
      needs = needs_of(*input.source, *input.target, array);
    } catch (Error& e) {
      throw e.in(input.target->path);
    }
    if (array.kind != ArrayPlan::Kind::nothing) shards.add(*input.target);
    worker_need = largest(worker_need, needs.worker);
    largest_read = std::max(largest_read, needs.largest_read_bytes);
    if (needs.least_tile_bytes > least_tile) {
      least_tile = needs.least_tile_bytes;
      largest_path = input.target->path;
    }
  }

  worker_need.a_bytes = std::max(worker_need.a_bytes, reserve.worker.a_bytes);
  worker_need.b_bytes = std::max(worker_need.b_bytes, reserve.worker.b_bytes);
  worker_need.codec_bytes += reserve.worker.codec_bytes;
  plan.scratch_index_bytes = reserve.index_bytes;
  const std::uint64_t worker = worker_need.total_bytes() + kThreadBytes;
  // Read-ahead beyond a few chunks only helps while there is memory to spare.
  const std::uint64_t least_read_ahead = largest_read + largest_read / 4;
  const auto fixed = [&](int n_threads) {
    return plan.base_bytes + static_cast<std::uint64_t>(n_threads) * worker + least_read_ahead + shards.least_bytes +
           shards.finishing_bytes + reserve.index_bytes;
  };
  const std::uint64_t least = fixed(1) + least_tile;
  if (least > request.memory_bytes) {
    // The process is never of quite the same size twice, so the value named has some room.
    const std::uint64_t least_mib = ceil_div(least + kMiB + least / 64, kMiB);
    throw Error(
        Code::budget,
        fmt::format("does not fit into --memory {}: the process needs {}, one thread {}, {}and the smallest tile{} {}",
                    format_bytes(request.memory_bytes), format_bytes(plan.base_bytes), format_bytes(worker),
                    shards.text(), largest_path.empty() ? "" : " of " + largest_path,
                    format_bytes(least_tile + least_read_ahead)),
        fmt::format("the least that works is --memory {}MiB", least_mib));
  }
  while (plan.n_threads > 1 && fixed(plan.n_threads) + least_tile > request.memory_bytes) --plan.n_threads;
  plan.worker_bytes = worker;
  std::uint64_t spare = request.memory_bytes - fixed(plan.n_threads) - least_tile;
  const std::uint64_t more_shards = std::min(spare / 8, shards.all_bytes - shards.least_bytes);
  plan.shards_bytes = shards.least_bytes + more_shards;
  spare -= more_shards;
  // A long read-ahead hides the disk; a short one leaves more for tiles. The long one wins unless the source would be
  // read noticeably more often.
  Plan longer = plan;
  choose_tiles(arrays, least_read_ahead + std::min<std::uint64_t>(spare / 8, 48 * kMiB), least_read_ahead,
               spare + least_tile, longer);
  choose_tiles(arrays, least_read_ahead + std::min<std::uint64_t>(spare / 64, 4 * kMiB), least_read_ahead,
               spare + least_tile, plan);
  return total_reads(longer) > 1.05 * total_reads(plan) ? plan : longer;
}

}  // namespace chunkwise
