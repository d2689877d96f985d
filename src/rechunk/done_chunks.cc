#include "rechunk/done_chunks.h"

#include <algorithm>

#include "base/error.h"

namespace chunkwise {
namespace {

/// Runs of neighbouring numbers: how many runs, then of each the distance from the end of the last, and its length.
void pack_runs(Packer& out, std::vector<Index>& ids) {
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  const auto run_end = [&ids](std::size_t begin) {
    std::size_t end = begin + 1;
    while (end < ids.size() && ids[end] == ids[end - 1] + 1) ++end;
    return end;
  };
  std::uint64_t n_runs = 0;
  for (std::size_t at = 0; at < ids.size(); at = run_end(at)) ++n_runs;
  out.number(n_runs);
  Index last = 0;
  for (std::size_t at = 0; at < ids.size();) {
    const std::size_t end = run_end(at);
    out.number(static_cast<std::uint64_t>(ids[at] - last));
    out.number(end - at);
    last = ids[end - 1] + 1;
    at = end;
  }
}

[[noreturn]] void does_not_fit() {
  throw Error(Code::corrupt, "the journal does not fit the arrays of the target");
}

}  // namespace

DoneChunks::DoneChunks(const std::vector<ArrayMeta>& targets, std::vector<std::vector<bool>> of_others)
    : earlier_(targets.size()), earlier_proofs_(targets.size()), pending_(targets.size()) {
  for (std::size_t i = 0; i < targets.size(); ++i) {
    earlier_[i].grid = targets[i].grid();
    earlier_[i].element_bytes = targets[i].dtype.bytes;
    if (i < of_others.size()) earlier_[i].of_others = std::move(of_others[i]);
  }
}

void DoneChunks::restore(Unpacker& packed) {
  for (std::uint64_t n_arrays = packed.number(); n_arrays > 0; --n_arrays) {
    const std::uint64_t array = packed.number();
    if (array >= earlier_.size()) does_not_fit();
    Earlier& earlier = earlier_[array];
    const auto n_chunks = static_cast<std::uint64_t>(earlier.grid.n_chunks());
    if (earlier.done.empty()) earlier.done.resize(n_chunks);
    std::uint64_t at = 0;
    for (std::uint64_t n_runs = packed.number(); n_runs > 0; --n_runs) {
      const std::uint64_t gap = packed.number();
      const std::uint64_t length = packed.number();
      if (gap > n_chunks - at || length > n_chunks - at - gap) does_not_fit();
      at += gap;
      for (const std::uint64_t end = at + length; at < end; ++at) {
        if (!earlier.done[at]) ++earlier.n_done;
        earlier.done[at] = true;
      }
    }
    for (std::uint64_t n_proofs = packed.number(); n_proofs > 0; --n_proofs) {
      ChunkProof proof;
      const std::uint64_t id = packed.number();
      if (id >= n_chunks) does_not_fit();
      proof.id = ChunkId{static_cast<Index>(id)};
      proof.hash = packed.number();
      proof.absent = packed.number() != 0;
      earlier_proofs_[array].push_back(proof);
    }
  }
}

Index DoneChunks::n_done_before() const {
  Index n = 0;
  for (const Earlier& earlier : earlier_) n += earlier.n_done;
  return n;
}

std::uint64_t DoneChunks::bytes_of(std::size_t array, ChunkId id) const {
  const Earlier& earlier = earlier_[array];
  return static_cast<std::uint64_t>(product(earlier.grid.box(id).shape)) * earlier.element_bytes;
}

std::uint64_t DoneChunks::bytes_done_before() const {
  std::uint64_t bytes = 0;
  for (std::size_t array = 0; array < earlier_.size(); ++array)
    for (std::size_t i = 0; i < earlier_[array].done.size(); ++i)
      if (earlier_[array].done[i]) bytes += bytes_of(array, ChunkId{static_cast<Index>(i)});
  return bytes;
}

std::uint64_t DoneChunks::bytes_of_others() const {
  std::uint64_t bytes = 0;
  for (std::size_t array = 0; array < earlier_.size(); ++array)
    for (std::size_t i = 0; i < earlier_[array].of_others.size(); ++i)
      if (earlier_[array].of_others[i]) bytes += bytes_of(array, ChunkId{static_cast<Index>(i)});
  return bytes;
}

void DoneChunks::add(std::size_t array, std::span<const ChunkId> ids, std::span<const ChunkProof> proofs) {
  std::uint64_t bytes = 0;
  for (const ChunkId id : ids) bytes += bytes_of(array, id);
  bytes_done_now_ += bytes;
  const std::lock_guard lock(mutex_);
  Pending& pending = pending_[array];
  for (const ChunkId id : ids) pending.ids.push_back(linear(id));
  pending.proofs.insert(pending.proofs.end(), proofs.begin(), proofs.end());
  n_pending_ += ids.size();
}

void DoneChunks::take(Packer& out) {
  std::vector<Pending> taken(pending_.size());
  {
    const std::lock_guard lock(mutex_);
    taken.swap(pending_);
    n_pending_ = 0;
  }
  out.number(static_cast<std::uint64_t>(
      std::count_if(taken.begin(), taken.end(), [](const Pending& some) { return !some.ids.empty(); })));
  for (std::size_t i = 0; i < taken.size(); ++i) {
    if (taken[i].ids.empty()) continue;
    out.number(i);
    pack_runs(out, taken[i].ids);
    out.number(taken[i].proofs.size());
    for (const ChunkProof& proof : taken[i].proofs) {
      out.number(static_cast<std::uint64_t>(linear(proof.id)));
      out.number(proof.hash);
      out.number(proof.absent ? 1 : 0);
    }
  }
}

}  // namespace chunkwise
