#include "rechunk/verify.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>

#include "array/element_change.h"
#include "base/error.h"
#include "base/for_each_index.h"
#include "codec/chain.h"
#include "rechunk/element_copy.h"
#include "rechunk/tiling.h"

namespace chunkwise {
namespace {

std::string hex(ByteView bytes) {
  std::string text = "0x";
  for (std::byte b : bytes) text += fmt::format("{:02x}", static_cast<unsigned>(b));
  return text;
}

/// Decodes parts of arrays into dense buffers, as elements of the array `shown`, on all cores.
class BoxReader {
 public:
  BoxReader(const ArraySource& source, const ArrayMeta& shown, std::uint64_t batch_bytes, int n_threads)
      : source_(source),
        order_(shown.layout.byte_order),
        element_(shown.dtype.element()),
        change_(source.meta(), shown),
        batch_bytes_(batch_bytes),
        chain_(source.meta().codecs, source.meta().dtype.bytes),
        fill_(fill_as(source.meta(), shown)),
        scratch_(static_cast<std::size_t>(n_threads)) {}

  /// C order.
  void read(const Box& box, Bytes& elements) {
    const ArrayMeta& meta = source_.meta();
    elements.resize_discard(static_cast<std::size_t>(product(box.shape)) * meta.dtype.bytes);
    const Box covered = intersect(box, whole(source_.grid().array()));
    const std::vector<ChunkId> ids = source_.grid().overlapping(covered);
    std::vector<std::pair<ChunkId, std::uint64_t>> stored;
    bool needs_fill = covered != box;
    for (ChunkId id : ids) {
      const ChunkRef ref = source_.locate(id);
      if (!std::holds_alternative<StoredAt>(ref)) needs_fill = true;
      if (!std::holds_alternative<Absent>(ref)) stored.emplace_back(id, most_bytes(ref));
    }
    if (needs_fill) fill_elements(elements.span(), fill_);
    std::vector<ChunkId> some;
    for (std::size_t next = 0; next < stored.size();) {
      some.clear();
      for (std::uint64_t bytes = 0; next < stored.size(); ++next) {
        bytes += stored[next].second;
        if (!some.empty() && bytes > batch_bytes_) break;
        some.push_back(stored[next].first);
      }
      ReadBatch batch;
      source_.read(some, batch);
      for_each_index(static_cast<int>(scratch_.size()), some.size(), [&](std::size_t i, std::size_t thread) {
        if (batch.chunks[i].absent) return;
        const ChunkGrid& grid = source_.grid();
        const Box stored_box = meta.pads_edges ? grid.full_box(some[i]) : grid.box(some[i]);
        const std::size_t bytes = static_cast<std::size_t>(product(stored_box.shape)) * meta.dtype.bytes;
        ByteView decoded =
            chain_.decode(batch.chunks[i].bytes, bytes, batch.chunks[i].skipped_codecs, scratch_[thread]);
        Bytes changed;
        if (!change_.empty()) {
          changed = Bytes::copy_of(decoded);
          change_.apply(changed.span());
          decoded = changed.view();
        }
        BoxCopy copy;
        copy.src_box = stored_box;
        copy.src_layout = meta.layout;
        copy.dst_box = box;
        copy.dst_layout.byte_order = order_;
        copy.part = intersect(grid.box(some[i]), box);
        copy.element = element_;
        copy_box(copy, decoded.data(), elements.data());
      });
    }
  }

 private:
  const ArraySource& source_;
  ByteOrder order_;
  ElementSize element_;
  ElementChange change_;
  std::uint64_t batch_bytes_;
  CodecChain chain_;
  std::vector<std::byte> fill_;
  std::vector<CodecChain::Scratch> scratch_;  // of each thread
};

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

/// Decodes the sampled chunks of one array and compares them with what was written.
void check_proofs(const ArrayPlan& plan, const ArraySource& uncut, const ArrayMeta& wanted,
                  const std::vector<ChunkProof>& proofs, int n_threads, VerifyReport& report) {
  std::unique_ptr<ArraySource> cut;
  const ArraySource* source = &uncut;
  if (uncut.meta().storage == Storage::contiguous && uncut.meta().chunk != wanted.chunk) {
    cut = cut_linear(uncut, wanted.chunk);
    source = cut.get();
  }
  const ArrayMeta& meta = source->meta();
  const bool encoded = plan.kind == ArrayPlan::Kind::copy_chunks;
  const std::vector<std::byte> fill = fill_in_order(meta, meta.layout.byte_order);
  const CodecChain chain = encoded ? CodecChain() : CodecChain(meta.codecs, meta.dtype.bytes);
  std::atomic<std::uint64_t> bytes{0};
  std::vector<CodecChain::Scratch> scratch(static_cast<std::size_t>(n_threads));
  for_each_index(n_threads, proofs.size(), [&](std::size_t i, std::size_t thread) {
    const ChunkProof& proof = proofs[i];
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
                               chunk.skipped_codecs, scratch[thread]);
      } catch (const Error& e) {
        throw Error(Code::mismatch, fmt::format("{} cannot be decoded in the target: {}", where, e.message()));
      }
    }
    // Space allocated early is stored, full of fill, also where nothing was written.
    const bool same =
        proof.absent ? all_equal(content, fill) : XXH3_64bits(content.data(), content.size()) == proof.hash;
    if (!same) throw Error(Code::mismatch, fmt::format("{} differs from what was written", where));
    bytes += content.size();
  });
  report.n_chunks += static_cast<Index>(proofs.size());
  report.bytes += bytes;
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
    if (std::memcmp(wanted.data(), got.data(), wanted.size()) != 0) {
      std::size_t at = 0;
      while (wanted.data()[at] == got.data()[at]) ++at;
      at -= at % element_bytes;
      Shape position = box.origin;
      Index rest = static_cast<Index>(at / element_bytes);
      for (int axis = box.shape.rank() - 1; axis >= 0; --axis) {
        position[axis] += rest % box.shape[axis];
        rest /= box.shape[axis];
      }
      differs(plan.path, position, {wanted.data() + at, element_bytes}, {got.data() + at, element_bytes});
    }
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

VerifyReport verify(VerifyMode mode, const Plan& plan, const Reader& source, const std::vector<ArrayMeta>& sources,
                    const Reader& target, const Hierarchy& wanted, const std::vector<std::vector<ChunkProof>>& proofs,
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
    if (progress && mode == VerifyMode::full) progress({report.bytes, total_bytes, elapsed()});
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
    if (mode == VerifyMode::sample) {
      check_proofs(array, *written, wanted.arrays[i].meta, proofs[i], plan.n_threads, report);
      continue;
    }
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
