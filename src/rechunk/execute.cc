// Reader threads take source chunks tile by tile, in plan order, within the read-ahead budget. Workers decode each
// chunk and scatter it into its tile; the last one of a tile lets the tile's target chunks be gathered, encoded and
// written. Source chunks lie at disjoint places of a tile and every target chunk belongs to one tile, so nothing on
// that path takes a lock. Where an array goes through an intermediate, that happens twice, see stages.h.
#include "rechunk/execute.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>

#include "base/budget.h"
#include "base/error.h"
#include "base/sizes.h"
#include "codec/chain.h"
#include "rechunk/batch.h"
#include "rechunk/chunks_to_read.h"
#include "rechunk/element_copy.h"
#include "rechunk/shard_blocks.h"
#include "rechunk/stages.h"
#include "rechunk/task_pool.h"
#include "rechunk/tile_run.h"

namespace chunkwise {
namespace {

/// They wait for the device: for names and sizes too, where every chunk is a file of its own.
constexpr int kReaderThreads = 8;
/// Small chunks share a task until it has about this many decoded bytes, so that scheduling does not show.
constexpr std::uint64_t kTask_bytes = 256 * 1024;
constexpr std::uint64_t kBatchesInFlight = 8;

class Execution {
 public:
  Execution(const Plan& plan, const Reader& reader, const std::vector<ArrayMeta>& sources, Writer& writer,
            const std::vector<ArrayMeta>& targets, DoneChunks& done)
      : plan_(plan),
        reader_(reader),
        sources_(sources),
        writer_(writer),
        targets_(targets),
        done_(done),
        tiles_(plan.tiles_bytes),
        read_ahead_(plan.read_ahead_bytes),
        shards_(plan.shards_bytes),
        idle_batches_(with_gaps(plan.read_ahead_bytes / kBatchesInFlight)),
        opener_(plan, reader, sources, writer, targets),
        rounds_(rounds_of(plan, done)),
        pool_(plan.n_threads, stop_.get_token(), [this](std::exception_ptr error) { fail(std::move(error)); }) {
    result_.proofs = done.earlier_proofs();
    bytes_before_ = done.bytes_done_before();
    for (const ArrayPlan& array : plan.arrays) total_bytes_ += array.decoded_bytes;
    for (const std::vector<Stage>& round : rounds_)
      for (const Stage& stage : round)
        if (stage.part == Stage::Part::fill) total_bytes_ += plan.arrays[stage.array].decoded_bytes;
    total_bytes_ -= std::min(total_bytes_, done.bytes_of_others());
  }

  ExecuteResult run(const ProgressSink& progress, std::stop_token outer) {
    std::stop_callback forward(outer, [this] {
      interrupted_ = true;
      stop_.request_stop();
    });
    const Clock::time_point begin = Clock::now();
    for (; round_ < rounds_.size() && !stop_.stop_requested(); ++round_) run_round(progress, begin);
    idle_elements_.clear();  // its memory is now for elements that are copied one by one
    for (std::size_t i = 0; i < plan_.arrays.size() && !stop_.stop_requested(); ++i)
      if (is_copied_last(plan_.arrays[i].kind)) copy_last(i, progress, begin);
    if (error_) std::rethrow_exception(error_);
    if (interrupted_) throw Error(Code::interrupted, "interrupted");
    result_.totals += pool_.totals();
    result_.totals += reader_totals_;
    if (progress)
      progress({total_bytes_, total_bytes_, seconds_since(begin), result_.totals, plan_.n_threads, 0, bytes_before_});
    return std::move(result_);
  }

 private:
  /// Stages that need not wait for each other. Afterwards nothing of them is in flight.
  void run_round(const ProgressSink& progress, Clock::time_point begin) {
    next_stage_ = 0;
    std::vector<std::jthread> readers;
    n_readers_ = kReaderThreads;
    for (int i = 0; i < kReaderThreads; ++i) readers.emplace_back([this] { read_loop(); });
    constexpr std::chrono::milliseconds kTick{100};
    for (;;) {
      StageTotals stages;
      {
        std::unique_lock lock(state_mutex_);
        if (state_changed_.wait_for(lock, kTick, [this] { return n_readers_ == 0; })) {
          lock.unlock();
          if (pool_.wait_idle(kTick)) break;
          lock.lock();
        }
        stages = reader_totals_;
      }
      if (!progress) continue;
      stages += pool_.totals();
      progress({bytes_done(), total_bytes_, seconds_since(begin), stages, plan_.n_threads, 0, bytes_before_});
    }
    readers.clear();
    if (drained_ && !stop_.stop_requested()) require_drained(*drained_);
    drained_ = nullptr;
    array_ = nullptr;
    tile_ = nullptr;
    block_ = nullptr;
  }

  /// All that was put into an intermediate must have come out. Where tiles were left out, as done before, nothing can
  /// be said but that every box came back as it was written.
  void require_drained(const ArrayRun& array) const {
    if (!array.scratch_sum || done_.n_done_before(array.index) > 0 || *array.scratch_sum == 0) return;
    throw Error(
        Code::mismatch,
        fmt::format("{}: what came out of the intermediate array differs from what went in, by a content sum of "
                    "{:016x}",
                    array.plan->path, array.scratch_sum->load()),
        "the memory of this machine is not to be trusted");
  }

  std::uint64_t bytes_done() const { return bytes_before_ + done_.bytes_done_now() + bytes_by_format_ + bytes_staged_; }

  // ---- reading ----

  void read_loop() {
    try {
      for (;;) {
        std::shared_ptr<Batch> batch;
        {
          const std::lock_guard lock(cursor_mutex_);
          batch = next_batch();
        }
        if (!batch) break;
        const Clock::time_point begin = Clock::now();
        try {
          batch->array->source->read(batch->ids, batch->data);
        } catch (Error& e) {
          throw e.in(batch->array->plan->path);
        }
        if (plan_.proves_all)
          for (const EncodedChunk& chunk : batch->data.chunks) batch->hashes.push_back(hash_of(chunk));
        StageTotals totals;
        totals.read_s = seconds_since(begin);
        for (const EncodedChunk& chunk : batch->data.chunks) {
          (batch->array->reads_scratch ? totals.scratch_read_bytes : totals.read_bytes) += chunk.bytes.size();
          if (!chunk.absent && !batch->array->reads_scratch) ++totals.n_chunks_read;
        }
        {
          const std::lock_guard lock(state_mutex_);
          reader_totals_ += totals;
        }
        if (batch->tile && !open_elements(*batch->tile)) break;
        batch->tile ? dispatch_decode(batch) : dispatch_copy(batch);
      }
    } catch (...) {
      fail(std::current_exception());
    }
    const std::lock_guard lock(state_mutex_);
    --n_readers_;
    state_changed_.notify_all();
  }

  /// The next chunks to read, in plan order, with the memory for them. Null at the end or after a stop.
  std::shared_ptr<Batch> next_batch() {
    while (!stop_.stop_requested()) {
      if (!todo_.at_end()) return take_batch();
      tile_ = nullptr;
      if (const auto step = order_.next()) {
        if (step->begins_block && !open_block()) return nullptr;
        if (array_->plan->kind == ArrayPlan::Kind::copy_chunks)
          open_copy(array_->tiles.box(step->tile));
        else if (!array_->fills_scratch && was_done(*array_, step->tile))
          ++result_.n_tiles_skipped;
        else if (!open_tile(step->tile))
          return nullptr;
        continue;
      }
      block_ = nullptr;
      array_ = nullptr;
      if (next_stage_ == rounds_[round_].size()) return nullptr;
      open_stage(rounds_[round_][next_stage_++]);
    }
    return nullptr;
  }

  void open_stage(const Stage& stage) {
    array_ = opener_.open(stage);
    if (array_->reads_scratch) drained_ = array_;
    order_ = TileOrder(array_->tiles, array_->plan->block);
  }

  /// Takes the memory of the shards of the next block; while it waits, those before it are finished. False after a
  /// stop.
  bool open_block() {
    block_ = nullptr;
    if (array_->plan->block_bytes == 0) return true;
    auto lease = std::make_shared<MemoryBudget::Lease>(shards_.take(array_->plan->block_bytes, stop_.get_token()));
    const bool has_it = static_cast<bool>(*lease);
    block_ = std::move(lease);
    return has_it;
  }

  /// Finds the chunks of a block that move as they are.
  void open_copy(const Box& box) {
    todo_.clear();
    const ChunkGrid& grid = array_->source->grid();
    std::vector<ChunkId> absent;
    const auto look_at = [&](ChunkId id) {
      if (!done_.was_done(array_->index, id) && !add_present(*array_, id)) absent.push_back(id);
    };
    if (box.shape == grid.array()) {
      for (Index i = 0; i < grid.n_chunks(); ++i) look_at(ChunkId{i});
    } else {
      for (const ChunkId id : grid.overlapping(box)) look_at(id);
    }
    todo_.sort();
    std::vector<ChunkProof> proofs;
    for (const ChunkId id : absent) {
      array_->sink->write(id, {{}, 0, true});
      if (plan_.proves_all && array_->target->storage == Storage::chunked) proofs.push_back({id, 0, true});
    }
    keep(*array_, absent, proofs);
    const std::lock_guard lock(state_mutex_);
    reader_totals_.n_chunks_absent += static_cast<Index>(absent.size());
  }

  /// True if earlier runs finished all of a tile.
  bool was_done(const ArrayRun& array, ChunkId tile) const {
    if (!done_.any_was_done(array.index)) return false;
    const std::vector<ChunkId> ids = array.sink->grid().overlapping(array.tiles.box(tile));
    return std::all_of(ids.begin(), ids.end(), [&](ChunkId id) { return done_.was_done(array.index, id); });
  }

  static bool is_copied_last(ArrayPlan::Kind kind) {
    return kind == ArrayPlan::Kind::by_format || kind == ArrayPlan::Kind::elements;
  }

  /// What is copied element by element comes last, when nothing else is left and all memory is free: the places of what
  /// only the format can move, which depend on that memory, then stand behind all that a checkpoint may have told of.
  void copy_last(std::size_t index, const ProgressSink& progress, Clock::time_point begin_of_all) {
    ElementWork work;
    work.memory_bytes = plan_.arrays[index].tile_bytes;
    work.stop = stop_.get_token();
    const Clock::time_point begin = Clock::now();
    Clock::time_point last_told = begin;
    StageTotals totals;
    work.done = [&](bool stored, std::uint64_t moved_bytes, std::uint64_t element_bytes) {
      totals.written_bytes += moved_bytes;
      totals.decoded_bytes += element_bytes;
      ++(stored ? totals.n_chunks_written : totals.n_chunks_absent);
      bytes_by_format_ += element_bytes;
      if (!progress || seconds_since(last_told) < 0.1) return;
      last_told = Clock::now();
      progress({bytes_done(), total_bytes_, seconds_since(begin_of_all), {}, 0, 0, bytes_before_});
    };
    if (plan_.arrays[index].kind == ArrayPlan::Kind::by_format) {
      writer_.copy_elements(targets_[index].path, reader_, work);
    } else {
      ElementCopy copy = copy_elements(reader_, sources_[index], writer_, targets_[index], plan_.allows_loss, work);
      result_.proofs[index] = std::move(copy.proofs);
      result_.losses.insert(result_.losses.end(), copy.losses.begin(), copy.losses.end());
    }
    totals.write_s = seconds_since(begin);
    reader_totals_ += totals;
  }

  /// Finds the chunks of a tile, and encodes it at once if nothing needs reading. False after a stop.
  bool open_tile(ChunkId id) {
    auto tile = std::make_shared<TileRun>();
    tile->array = array_;
    tile->block = block_;
    tile->box = array_->tiles.box(id);
    const CutGrid& grid = array_->source_grid;
    // A target may be longer than its source (netCDF records not yet written): what lies beyond reads as fill.
    const Box covered = intersect(tile->box, whole(grid.array()));
    tile->source_chunks = grid.boxes_of(covered);
    tile->target_chunks = array_->target_grid.boxes_of(tile->box);
    const std::vector<ChunkId> ids = grid.overlapping(covered);
    tile->present.resize(ids.size());
    todo_.clear();
    for (std::size_t i = 0; i < ids.size(); ++i) tile->present[i] = add_present(*array_, ids[i]);
    tile->all_absent = todo_.size() == 0;
    tile->n_to_decode = static_cast<Index>(todo_.size());
    tile->needs_fill = todo_.size() < ids.size() || covered != tile->box;
    todo_.sort();
    if (tile->all_absent && array_->absent_stays_absent) {
      dispatch_encode(tile);  // needs no elements
      return true;
    }
    tile->ticket = tiles_.queue();
    tile_ = tile;
    if (!tile->all_absent) return true;
    if (!open_elements(*tile)) return false;
    dispatch_encode(tile);
    return true;
  }

  /// Gives a tile its memory, when its turn has come. Chunks of the next tile are read before that, so the device does
  /// not wait while a tile is encoded. False after a stop.
  bool open_elements(TileRun& tile) {
    const std::lock_guard lock(tile.opening);
    if (tile.lease) return true;
    tile.lease = tiles_.take(tile.ticket, tile.array->plan->tile_bytes, stop_.get_token());
    if (!tile.lease) return false;
    tile.elements = idle_elements_.take(elements_bytes(tile));
    if (tile.needs_fill) fill_elements(tile.elements.span(), tile.array->fill);
    return true;
  }

  bool add_present(const ArrayRun& array, ChunkId id) {
    try {
      return todo_.add(*array.source, id);
    } catch (Error& e) {
      throw e.in(array.plan->path);
    }
  }

  std::shared_ptr<Batch> take_batch() {
    auto batch = std::make_shared<Batch>(idle_batches_);
    batch->array = array_;
    batch->block = block_;
    batch->tile = array_->plan->kind == ArrayPlan::Kind::rewrite ? tile_ : nullptr;
    // Several requests in flight; at least one chunk each.
    const std::uint64_t most_bytes = read_ahead_.capacity_bytes() / kBatchesInFlight;
    const std::uint64_t bytes = with_gaps(todo_.take(most_bytes, batch->ids));
    if (array_->target->dtype.is_varying() && bytes > read_ahead_.capacity_bytes()) {
      // Larger than the plan could know.
      if (bytes > tiles_.capacity_bytes())
        throw Error(Code::budget,
                    fmt::format("a chunk of {} takes {} as it is stored", array_->plan->path, format_bytes(bytes)),
                    "allow more memory with --memory");
      batch->lease = tiles_.take(bytes, stop_.get_token());
    } else {
      batch->lease = read_ahead_.take(std::min(bytes, read_ahead_.capacity_bytes()), stop_.get_token());
    }
    if (!batch->lease) return nullptr;
    batch->data = idle_batches_.take(static_cast<std::size_t>(bytes));
    return batch;
  }

  // ---- tasks ----

  void dispatch_decode(const std::shared_ptr<Batch>& batch) {
    const std::size_t per_task = chunks_per_task(batch->array->source->meta(), batch->array->plan->source_chunk);
    for (std::size_t begin = 0; begin < batch->ids.size(); begin += per_task) {
      const std::size_t end = std::min(begin + per_task, batch->ids.size());
      pool_.decode([this, batch, begin, end](Worker& worker) {
        for (std::size_t i = begin; i < end && !stop_.stop_requested(); ++i)
          decode_chunk(*batch->tile, batch->ids[i], batch->data.chunks[i], batch->hash(i), worker);
        const Index n = static_cast<Index>(end - begin);
        if (batch->tile->n_to_decode.fetch_sub(n) == n && !stop_.stop_requested()) dispatch_encode(batch->tile);
      });
    }
  }

  static std::size_t chunks_per_task(const ArrayMeta& meta, const Shape& chunk) {
    const std::uint64_t bytes = static_cast<std::uint64_t>(product(chunk)) * meta.dtype.bytes;
    return static_cast<std::size_t>(std::max<std::uint64_t>(1, kTask_bytes / std::max<std::uint64_t>(bytes, 1)));
  }

  void dispatch_encode(const std::shared_ptr<TileRun>& tile) {
    const ArrayRun& array = *tile->array;
    std::vector<ChunkId> ids = array.target_grid.overlapping(tile->box);
    // What was done before still belongs to the tile's sum.
    const auto is_done = [&](ChunkId id) { return !array.fills_scratch && done_.was_done(array.index, id); };
    if (!array.content) std::erase_if(ids, is_done);
    order_by_shard(*array.target, ids);
    tile->n_to_encode = static_cast<Index>(ids.size());
    const std::size_t per_task = chunks_per_task(*array.target, array.target->chunk);
    for (std::size_t begin = 0; begin < ids.size(); begin += per_task) {
      std::vector<ChunkId> some(ids.begin() + static_cast<std::ptrdiff_t>(begin),
                                ids.begin() + static_cast<std::ptrdiff_t>(std::min(begin + per_task, ids.size())));
      pool_.write([this, tile, some = std::move(some)](Worker& worker) {
        const ArrayRun& of = *tile->array;
        std::vector<ChunkId> written;
        std::vector<ChunkProof> proofs;
        for (const ChunkId id : some) {
          if (stop_.stop_requested()) break;
          if (of.content && !of.fills_scratch && done_.was_done(of.index, id)) {
            count_chunk(*tile, id, worker);
            continue;
          }
          if (const auto proof = encode_chunk(*tile, id, worker)) proofs.push_back(*proof);
          written.push_back(id);
        }
        keep(of, written, proofs);
        const Index n = static_cast<Index>(some.size());
        if (tile->n_to_encode.fetch_sub(n) != n) return;
        if (of.content && !stop_.stop_requested()) require_all_out(*tile);
        idle_elements_.give(std::move(tile->elements));
      });
    }
  }

  void dispatch_copy(const std::shared_ptr<Batch>& batch) {
    pool_.write([this, batch](Worker& worker) {
      const ArrayRun& array = *batch->array;
      const ChunkGrid& grid = array.sink->grid();
      const Clock::time_point begin = Clock::now();
      std::vector<ChunkProof> proofs;
      std::size_t i = 0;
      for (; i < batch->ids.size() && !stop_.stop_requested(); ++i) {
        const ChunkId id = batch->ids[i];
        EncodedChunk chunk = batch->data.chunks[i];
        const auto read_hash = batch->hash(i);
        bool as_read = true;
        try {
          if (chunk.skipped_codecs != 0 && !array.sink->keeps_skipped_codecs()) {
            chunk = with_all_codecs(chunk, *array.target, worker);
            if (read_hash) require_unchanged(array, id, batch->data.chunks[i], *read_hash);
            as_read = false;
          }
          array.sink->write(id, chunk);
        } catch (Error& e) {
          throw e.in(fmt::format("chunk {} of {}", to_string(grid.coords(id)), array.plan->path));
        }
        if (read_hash || is_sampled(grid, id))
          proofs.push_back({id, read_hash && as_read ? *read_hash : hash_of(chunk), chunk.absent});
        worker.totals.written_bytes += chunk.bytes.size();
        ++(chunk.absent ? worker.totals.n_chunks_absent : worker.totals.n_chunks_written);
      }
      keep(array, std::span(batch->ids).first(i), proofs);
      worker.totals.write_s += seconds_since(begin);
    });
  }

  // ---- shared state ----

  /// These chunks are finished. A compact array lies in the metadata, which no checkpoint covers.
  void keep(const ArrayRun& array, std::span<const ChunkId> ids, const std::vector<ChunkProof>& proofs) {
    if (array.fills_scratch) {
      for (const ChunkId id : ids)
        bytes_staged_ +=
            static_cast<std::uint64_t>(product(array.target_grid.box(id).shape)) * array.target->dtype.bytes;
      return;
    }
    if (array.target->storage != Storage::compact) done_.add(array.index, ids, proofs);
    const std::lock_guard lock(state_mutex_);
    std::vector<ChunkProof>& all = result_.proofs[array.index];
    all.insert(all.end(), proofs.begin(), proofs.end());
  }

  void fail(std::exception_ptr error) {
    {
      const std::lock_guard lock(state_mutex_);
      if (!error_) error_ = std::move(error);
      state_changed_.notify_all();
    }
    stop_.request_stop();
  }

  const Plan& plan_;
  const Reader& reader_;
  const std::vector<ArrayMeta>& sources_;
  Writer& writer_;
  const std::vector<ArrayMeta>& targets_;
  DoneChunks& done_;
  MemoryBudget tiles_;
  MemoryBudget read_ahead_;
  MemoryBudget shards_;
  IdleBatches idle_batches_;
  IdleElements idle_elements_;
  std::stop_source stop_;
  std::atomic<bool> interrupted_{false};
  std::uint64_t bytes_before_ = 0;  // done by earlier runs
  std::uint64_t bytes_by_format_ = 0;
  std::atomic<std::uint64_t> bytes_staged_{0};  // decoded, in intermediates
  std::uint64_t total_bytes_ = 0;

  StageOpener opener_;
  const std::vector<std::vector<Stage>> rounds_;
  std::size_t round_ = 0;

  std::mutex cursor_mutex_;  // guards the next seven: where reading stands
  std::shared_ptr<ArrayRun> array_;
  TileOrder order_;                    // what is left of the array
  std::shared_ptr<ArrayRun> drained_;  // an intermediate comes alone
  BlockLease block_;
  std::shared_ptr<TileRun> tile_;
  ChunksToRead todo_;
  std::size_t next_stage_ = 0;

  std::mutex state_mutex_;  // guards the next five
  std::condition_variable state_changed_;
  int n_readers_ = 0;
  std::exception_ptr error_;
  StageTotals reader_totals_;
  ExecuteResult result_;

  TaskPool pool_;  // last: its tasks use the others
};

}  // namespace

ExecuteResult execute(const Plan& plan, const Reader& reader, const std::vector<ArrayMeta>& sources, Writer& writer,
                      const std::vector<ArrayMeta>& targets, DoneChunks& done, const ProgressSink& progress,
                      std::stop_token stop) {
  return Execution(plan, reader, sources, writer, targets, done).run(progress, std::move(stop));
}

}  // namespace chunkwise
