#include "rechunk/stages.h"

#include <utility>

#include "rechunk/element_copy.h"
#include "rechunk/intermediate.h"

namespace chunkwise {

const ArraySource& cut_as_planned(const ArraySource& source, const ArrayPlan& plan, std::unique_ptr<ArraySource>& own) {
  if (source.meta().storage != Storage::contiguous || plan.source_chunk == source.meta().chunk) return source;
  own = cut_linear(source, plan.source_chunk);
  return *own;
}

std::vector<std::vector<Stage>> rounds_of(const Plan& plan, const DoneChunks& done) {
  std::vector<std::vector<Stage>> rounds(1);
  for (std::size_t i = 0; i < plan.arrays.size(); ++i) {
    const ArrayPlan& array = plan.arrays[i];
    if (array.kind != ArrayPlan::Kind::copy_chunks && array.kind != ArrayPlan::Kind::rewrite) continue;
    if (!array.intermediate) {
      rounds.front().push_back({i, Stage::Part::all});
    } else if (done.n_done_before(i) < array.n_target_chunks) {
      rounds.push_back({{i, Stage::Part::fill}});
      rounds.push_back({{i, Stage::Part::drain}});
    }
  }
  return rounds;
}

std::shared_ptr<ArrayRun> StageOpener::open(const Stage& stage) {
  const ArrayPlan& plan = plan_.arrays[stage.array];
  const IntermediatePlan* intermediate = plan.intermediate.get();
  const bool fills = stage.part == Stage::Part::fill;
  const bool drains = stage.part == Stage::Part::drain;
  auto run = std::make_shared<ArrayRun>();
  run->index = stage.array;
  run->plan = fills ? &intermediate->fill : &plan;
  run->target = fills ? &intermediate->meta : &targets_[stage.array];
  run->fills_scratch = fills;
  run->reads_scratch = drains;
  if (fills) scratch_ = std::make_shared<ScratchArray>(intermediate->meta, intermediate->boxes, plan_.scratch_folder);
  if (drains) {
    run->scratch = std::exchange(scratch_, nullptr);
    run->uncut = run->scratch->source();
    run->source = run->uncut.get();
    run->source_grid = intermediate->boxes;
  } else {
    run->uncut = reader_.open_array(sources_[stage.array].path);
    run->source = &cut_as_planned(*run->uncut, *run->plan, run->cut);
    run->source_grid = run->source->grid();
  }
  if (fills) {
    run->scratch = scratch_;
    run->sink = scratch_->sink();
    run->target_grid = intermediate->boxes;
  } else {
    run->sink = writer_.open_array(run->target->path);
    run->target_grid = run->sink->grid();
  }
  const ArrayMeta& source = drains ? intermediate->meta : sources_[stage.array];
  const ArrayMeta& target = *run->target;
  run->source_fill = fill_in_order(source, source.layout.byte_order);
  run->change = ElementChange(source, target);
  run->fill = fill_as(source, target);
  run->target_fill = fill_in_order(target, target.layout.byte_order);
  run->absent_stays_absent = run->fill == run->target_fill;
  run->leaves_out_fill = target.storage == Storage::chunked && !target.fill.empty() && !fills;
  if (plan_.proves_all && plan.kind == ArrayPlan::Kind::rewrite) {
    run->content = ContentSum(target.shape, target.dtype.element(), run->fill, target.layout.byte_order);
    if (fills) scratch_sum_ = std::make_shared<std::atomic<std::uint64_t>>(0);
    if (fills) run->scratch_sum = scratch_sum_;
    if (drains) run->scratch_sum = std::exchange(scratch_sum_, nullptr);
  }
  if (plan.kind == ArrayPlan::Kind::rewrite) {
    run->decode = CodecChain(source.codecs, source.dtype.bytes);
    run->encode = CodecChain(target.codecs, target.dtype.bytes);
  }
  run->tiles = ChunkGrid(target.shape, plan.kind == ArrayPlan::Kind::rewrite ? run->plan->tile : run->plan->block);
  return run;
}

}  // namespace chunkwise
