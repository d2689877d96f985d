#include "rechunk/verify.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>

#include "base/error.h"
#include "base/for_each_index.h"
#include "codec/chain.h"
#include "rechunk/box_reader.h"
#include "rechunk/element_copy.h"
#include "rechunk/stages.h"
#include "rechunk/tiling.h"

namespace chunkwise {
namespace {

std::string hex(ByteView bytes) {
  std::string text = "0x";
  for (std::byte b : bytes) text += fmt::format("{:02x}", static_cast<unsigned>(b));
  return text;
}

/// Lies in `batch`.
EncodedChunk read_one(const ArraySource& source, ChunkId id, ReadBatch& batch) {
  if (std::holds_alternative<Absent>(source.locate(id))) return {{}, 0, true};
  source.read(std::span(&id, 1), batch);
  return batch.chunks[0];
}

[[noreturn]] void differs(const std::string& path, const Shape& at, ByteView wanted, ByteView got) {
  throw Error(Code::mismatch, fmt::format("{}: element ({}) is {} in the source and {} in the target", path,
                                          fmt::join(at.begin(), at.end(), ", "), hex(wanted), hex(got)));
}

/// Throws Error{mismatch} with the first element of a box that is another in the target.
void require_equal(const std::string& path, const Box& box, std::size_t element_bytes, ByteView wanted, ByteView got) {
  if (std::memcmp(wanted.data(), got.data(), wanted.size()) == 0) return;
  std::size_t at = 0;
  while (wanted[at] == got[at]) ++at;
  at -= at % element_bytes;
  Shape position = box.origin;
  auto rest = static_cast<Index>(at / element_bytes);
  for (int axis = box.shape.rank() - 1; axis >= 0; --axis) {
    position[axis] += rest % box.shape[axis];
    rest /= box.shape[axis];
  }
  differs(path, position, wanted.subspan(at, element_bytes), got.subspan(at, element_bytes));
}

void check_stop(const std::stop_token& stop) {
  if (stop.stop_requested()) throw Error(Code::interrupted, "interrupted");
}

void check_tree(const Hierarchy& got, const Hierarchy& wanted) {
  for (const ArrayNode& node : wanted.arrays) {
    const ArrayNode* found = find_array(got, node.meta.path);
    if (found == nullptr) throw Error(Code::mismatch, fmt::format("{} is missing in the target", node.meta.path));
    // How long a virtual array is may depend on files that are not beside this one yet.
    const bool same_shape = found->meta.shape == node.meta.shape || node.meta.storage == Storage::virtual_;
    if (found->meta.dtype != node.meta.dtype || !same_shape)
      throw Error(Code::mismatch,
                  fmt::format("{} is {} {} in the target, not {} {}", node.meta.path, found->meta.dtype.name(),
                              to_string(found->meta.shape), node.meta.dtype.name(), to_string(node.meta.shape)));
    for (const Attribute& attribute : node.attributes)
      if (find_attribute(found->attributes, attribute.name) == nullptr)
        throw Error(Code::mismatch, fmt::format("{}@{} is missing in the target", node.meta.path, attribute.name));
  }
  for (const TypeNode& node : wanted.types)
    if (std::none_of(got.types.begin(), got.types.end(),
                     [&](const TypeNode& other) { return other.path == node.path; }))
      throw Error(Code::mismatch, fmt::format("type {} is missing in the target", node.path));
  for (const GroupNode& node : wanted.groups) {
    const auto found = std::find_if(got.groups.begin(), got.groups.end(),
                                    [&](const GroupNode& other) { return other.path == node.path; });
    if (found == got.groups.end())
      throw Error(Code::mismatch, fmt::format("group {} is missing in the target", node.path));
    for (const Attribute& attribute : node.attributes)
      if (find_attribute(found->attributes, attribute.name) == nullptr)
        throw Error(Code::mismatch, fmt::format("{}@{} is missing in the target", node.path, attribute.name));
  }
}

/// The array's source as it is stored, cut into the target's chunks where it lies in one run.
const ArraySource& in_chunks(const ArraySource& uncut, const ArrayMeta& wanted, std::unique_ptr<ArraySource>& own) {
  if (uncut.meta().storage != Storage::contiguous || uncut.meta().chunk == wanted.chunk) return uncut;
  own = cut_linear(uncut, wanted.chunk);
  return *own;
}

/// Of a chunk that is not what it should be: reads it from the source again, and throws Error{mismatch} with the first
/// element that differs and both values. Returns if none does.
void compare_with_source(const ArrayPlan& plan, const Plan& whole, const ArraySource& source_uncut,
                         const ArraySource& target, ChunkId id) {
  if (plan.kind == ArrayPlan::Kind::copy_chunks) {
    std::unique_ptr<ArraySource> own;
    const ArraySource& source = cut_as_planned(source_uncut, plan, own);
    ReadBatch wanted_batch;
    ReadBatch got_batch;
    const ByteView wanted = read_one(source, id, wanted_batch).bytes;
    const ByteView got = read_one(target, id, got_batch).bytes;
    for (std::size_t at = 0; at < std::min(wanted.size(), got.size()); ++at)
      if (wanted[at] != got[at])
        throw Error(Code::mismatch, fmt::format("byte {} of the encoded chunk ({}) of {} is {} in the source and {} in "
                                                "the target",
                                                at, to_string(source.grid().coords(id)), plan.path,
                                                hex(wanted.subspan(at, 1)), hex(got.subspan(at, 1))));
    return;
  }
  const Box box = target.grid().box(id);
  std::unique_ptr<ArraySource> own;
  const ArraySource* source = &source_uncut;
  if (source_uncut.meta().storage == Storage::contiguous) {
    own = cut_linear(source_uncut, linear_cut(source_uncut.meta(), box.shape));
    source = own.get();
  }
  Bytes wanted;
  Bytes got;
  BoxReader(*source, target.meta(), whole.read_ahead_bytes / 2, 1).read(box, wanted);
  BoxReader(target, target.meta(), whole.read_ahead_bytes / 2, 1).read(box, got);
  require_equal(plan.path, box, target.meta().dtype.bytes, wanted.view(), got.view());
}

/// How many chunks of an array can be looked at at one time within the memory of the plan.
int threads_for_chunks(const Plan& plan, const ArrayMeta& target) {
  const std::uint64_t room_bytes = plan.read_ahead_bytes + plan.tiles_bytes;
  const std::uint64_t chunk_bytes = std::max<std::uint64_t>(target.chunk_bytes(), 1);
  return static_cast<int>(
      std::clamp<std::uint64_t>(room_bytes / chunk_bytes, 1, static_cast<std::uint64_t>(plan.n_threads)));
}

/// Reads chunks of one array back, in the target's own order, and compares their hashes with what they held when they
/// were written. What differs is looked for in the source.
void check_proofs(const ArrayPlan& plan, const Plan& whole, const Reader& original, const std::string& source_path,
                  const ArraySource& uncut, const ArrayMeta& wanted, const std::vector<ChunkProof>& proofs,
                  VerifyReport& report, const std::function<void()>& tick) {
  std::unique_ptr<ArraySource> cut;
  const ArraySource* source = &in_chunks(uncut, wanted, cut);
  const ArrayMeta& meta = source->meta();
  const bool encoded = plan.kind == ArrayPlan::Kind::copy_chunks;
  const std::vector<std::byte> fill = fill_in_order(meta, meta.layout.byte_order);
  const CodecChain chain = encoded ? CodecChain() : CodecChain(meta.codecs, meta.dtype.bytes);
  std::atomic<std::uint64_t> bytes{0};
  const int n_threads = threads_for_chunks(whole, wanted);
  std::vector<CodecChain::Scratch> scratch(static_cast<std::size_t>(n_threads));
  const auto check = [&](const ChunkProof& proof, CodecChain::Scratch& of_thread) {
    const std::string where = fmt::format("chunk ({}) of {}", to_string(source->grid().coords(proof.id)), plan.path);
    ReadBatch batch;
    const EncodedChunk chunk = read_one(*source, proof.id, batch);
    if (chunk.absent && !proof.absent) throw Error(Code::mismatch, fmt::format("{} is missing in the target", where));
    if (chunk.absent) return;
    ByteView content = chunk.bytes;
    if (!encoded) {
      const Box box = meta.pads_edges ? source->grid().full_box(proof.id) : source->grid().box(proof.id);
      try {
        content = chain.decode(content, static_cast<std::size_t>(product(box.shape)) * meta.dtype.bytes,
                               chunk.skipped_codecs, of_thread);
      } catch (const Error& e) {
        throw Error(Code::mismatch, fmt::format("{} cannot be decoded in the target: {}", where, e.message()));
      }
    }
    bytes += content.size();
    // Space allocated early is stored, full of fill, also where nothing was written.
    const bool same =
        proof.absent ? all_equal(content, fill) : XXH3_64bits(content.data(), content.size()) == proof.hash;
    if (same) return;
    const std::uint64_t hash = XXH3_64bits(content.data(), content.size());
    try {
      compare_with_source(plan, whole, *original.open_array(source_path), *source, proof.id);
    } catch (const Error& e) {
      if (e.code() == Code::mismatch) throw;
    }
    throw Error(Code::mismatch, fmt::format("{} differs from what was written: its hash is {:016x}, was {:016x}", where,
                                            hash, proof.hash));
  };
  constexpr std::size_t kBetweenTicks = 256;
  for (std::size_t begin = 0; begin < proofs.size(); begin += kBetweenTicks) {
    const std::size_t n = std::min(kBetweenTicks, proofs.size() - begin);
    for_each_index(n_threads, n, [&](std::size_t i, std::size_t thread) { check(proofs[begin + i], scratch[thread]); });
    report.n_chunks += static_cast<Index>(n);
    report.bytes += bytes.exchange(0);
    tick();
  }
}

/// In order of their chunks, one each; all, or those of the sample.
std::vector<ChunkProof> known_chunks(std::vector<ChunkProof> proofs, const ArrayMeta& target, bool only_sample) {
  const ChunkGrid grid = target.grid();
  if (only_sample) std::erase_if(proofs, [&](const ChunkProof& proof) { return !is_sampled(grid, proof.id); });
  std::sort(proofs.begin(), proofs.end(), [](const ChunkProof& a, const ChunkProof& b) { return a.id < b.id; });
  proofs.erase(
      std::unique(proofs.begin(), proofs.end(), [](const ChunkProof& a, const ChunkProof& b) { return a.id == b.id; }),
      proofs.end());
  return proofs;
}

/// Compares all elements of one array, tile by tile.
void check_elements(const ArrayPlan& plan, const Plan& whole, const ArraySource& source_uncut,
                    const ArraySource& target_uncut, VerifyReport& report, const std::function<void()>& tick) {
  const ArrayMeta& source_meta = source_uncut.meta();
  const ArrayMeta& target_meta = target_uncut.meta();
  // The rewrite is over, so that all it left unused is there as well.
  const std::uint64_t room_bytes = whole.memory_bytes - whole.base_bytes -
                                   static_cast<std::uint64_t>(whole.n_threads) * whole.worker_bytes -
                                   whole.read_ahead_bytes;
  const Shape tile = choose_tile(source_meta, target_meta, std::max(room_bytes, whole.tiles_bytes) / 2);
  std::unique_ptr<ArraySource> own_source;
  std::unique_ptr<ArraySource> own_target;
  const auto cut = [&](const ArraySource& uncut, std::unique_ptr<ArraySource>& own) -> const ArraySource& {
    if (uncut.meta().storage != Storage::contiguous) return uncut;
    own = cut_linear(uncut, linear_cut(uncut.meta(), tile));
    return *own;
  };
  BoxReader source(cut(source_uncut, own_source), target_meta, whole.read_ahead_bytes / 2, whole.n_threads);
  BoxReader target(cut(target_uncut, own_target), target_meta, whole.read_ahead_bytes / 2, whole.n_threads);
  const ChunkGrid tiles(target_meta.shape, tile);
  Bytes wanted;
  Bytes got;
  const std::size_t element_bytes = target_meta.dtype.bytes;
  for (Index i = 0; i < tiles.n_chunks(); ++i) {
    const Box box = tiles.box(ChunkId{i});
    source.read(box, wanted);
    try {
      target.read(box, got);
    } catch (const Error& e) {
      throw Error(Code::mismatch, fmt::format("{}: the target cannot be read back: {}", plan.path, e.what()));
    }
    require_equal(plan.path, box, element_bytes, wanted.view(), got.view());
    report.bytes += wanted.size();
    tick();
  }
  report.n_chunks += target_uncut.grid().n_chunks();
}

/// True if two chunks that leave out different codecs hold the same elements.
bool same_decoded(const ArrayMeta& meta, const EncodedChunk& a, const EncodedChunk& b) {
  const CodecChain chain(meta.codecs, meta.dtype.bytes);
  CodecChain::Scratch scratch_a;
  CodecChain::Scratch scratch_b;
  const ByteView x = chain.decode(a.bytes, meta.chunk_bytes(), a.skipped_codecs, scratch_a);
  const ByteView y = chain.decode(b.bytes, meta.chunk_bytes(), b.skipped_codecs, scratch_b);
  return std::equal(x.begin(), x.end(), y.begin(), y.end());
}

/// Compares the encoded chunks of an array that was copied as it was: nothing needs to be decoded.
void check_encoded(const ArrayPlan& plan, const ArraySource& source_uncut, const ArraySource& target_uncut,
                   VerifyReport& report, const std::function<void()>& tick) {
  std::unique_ptr<ArraySource> own_source;
  std::unique_ptr<ArraySource> own_target;
  const ArraySource& source = cut_as_planned(source_uncut, plan, own_source);
  const ArraySource& target = cut_as_planned(target_uncut, plan, own_target);
  const Index n = source.grid().n_chunks();
  for (Index i = 0; i < n; ++i) {
    const ChunkId id{i};
    ReadBatch wanted_batch;
    ReadBatch got_batch;
    const EncodedChunk wanted = read_one(source, id, wanted_batch);
    const EncodedChunk got = read_one(target, id, got_batch);
    bool same = wanted.absent == got.absent;
    if (same && !wanted.absent) {
      if (wanted.skipped_codecs == got.skipped_codecs)
        same = std::equal(wanted.bytes.begin(), wanted.bytes.end(), got.bytes.begin(), got.bytes.end());
      else
        same = same_decoded(source.meta(), wanted, got);
      report.bytes += wanted.bytes.size();
    }
    if (!same)
      throw Error(Code::mismatch, fmt::format("chunk ({}) of {} differs in the target",
                                              to_string(source.grid().coords(id)), plan.path));
    ++report.n_chunks;
    if (i % 64 == 0) tick();
  }
}

}  // namespace

double chance_to_find(const VerifyReport& report, Index n_wrong) {
  const auto n_unseen = static_cast<double>(report.n_chunks_total - report.n_chunks);
  double missed = 1;
  for (Index i = 0; i < std::min(n_wrong, report.n_chunks_total); ++i) {
    const auto before = static_cast<double>(i);
    if (n_unseen <= before) return 1;
    missed *= (n_unseen - before) / (static_cast<double>(report.n_chunks_total) - before);
  }
  return 1 - missed;
}

VerifyReport verify(VerifyMode mode, const Plan& plan, const Reader& source, const std::vector<ArrayMeta>& sources,
                    const Reader& target, const Hierarchy& wanted, std::vector<std::vector<ChunkProof>> proofs,
                    const ProgressSink& progress, std::stop_token stop) {
  VerifyReport report;
  report.mode = mode;
  if (mode == VerifyMode::none) return report;
  const auto begin = std::chrono::steady_clock::now();
  check_tree(target.tree(), wanted);
  std::uint64_t total_bytes = 0;
  for (const ArrayPlan& array : plan.arrays) {
    report.n_chunks_total += array.n_target_chunks;
    total_bytes += array.decoded_bytes;
  }
  const auto elapsed = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(); };
  const auto tick = [&] {
    check_stop(stop);
    if (progress && mode == VerifyMode::full) progress({report.bytes, total_bytes, elapsed(), {}, 0, 0, 0});
  };
  for (std::size_t i = 0; i < plan.arrays.size(); ++i) {
    const ArrayPlan& array = plan.arrays[i];
    if (array.kind == ArrayPlan::Kind::nothing) continue;
    tick();
    if (array.kind == ArrayPlan::Kind::by_format) {
      ElementWork work;
      work.memory_bytes = array.tile_bytes;
      work.stop = stop;
      if (mode == VerifyMode::sample) work.chosen = is_sampled;
      work.done = [&](bool, std::uint64_t moved_bytes, std::uint64_t) {
        ++report.n_chunks;
        report.bytes += moved_bytes;
      };
      source.compare_elements(wanted.arrays[i].meta.path, target, work);
      tick();
      continue;
    }
    if (array.kind == ArrayPlan::Kind::elements) {
      ElementWork work;
      work.memory_bytes = array.tile_bytes;
      work.stop = stop;
      work.done = [&](bool, std::uint64_t, std::uint64_t element_bytes) {
        ++report.n_chunks;
        report.bytes += element_bytes;
        tick();
      };
      const ArrayMeta& meta = wanted.arrays[i].meta;
      if (mode == VerifyMode::sample)
        check_element_proofs(target, meta, proofs[i], work);
      else
        compare_elements(source, sources[i], target, meta, work);
      tick();
      continue;
    }
    const std::unique_ptr<ArraySource> written = target.open_array(wanted.arrays[i].meta.path);
    const ArrayMeta& meta = wanted.arrays[i].meta;
    const std::vector<ChunkProof> known =
        known_chunks(std::move(proofs[i]), meta, mode == VerifyMode::sample && plan.proves_all);
    if (mode == VerifyMode::sample || std::ssize(known) == array.n_target_chunks) {
      check_proofs(array, plan, source, sources[i].path, *written, meta, known, report, tick);
      continue;
    }
    // An earlier run that this one went on from did not know that all would be wanted.
    const std::unique_ptr<ArraySource> original = source.open_array(sources[i].path);
    if (array.kind == ArrayPlan::Kind::copy_chunks)
      check_encoded(array, *original, *written, report, tick);
    else
      check_elements(array, plan, *original, *written, report, tick);
  }
  report.seconds = elapsed();
  return report;
}

}  // namespace chunkwise
