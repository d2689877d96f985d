// In which order arrays are rewritten, and what each stage reads and writes.
#pragma once

#include <memory>
#include <vector>

#include "array/dataset.h"
#include "array/scratch_array.h"
#include "rechunk/done_chunks.h"
#include "rechunk/plan.h"
#include "rechunk/tile_run.h"

namespace chunkwise {

/// One array: from source to target, or the first or the second half of the way through an intermediate.
struct Stage {
  enum class Part { all, fill, drain };
  std::size_t array = 0;
  Part part = Part::all;
};

/// What overlaps, one after the other: first all arrays without an intermediate, then the halves of each of the others,
/// so that no two intermediates are there at one time. Leaves out what is copied last and arrays without work; through
/// an intermediate nothing goes of which all is done already.
std::vector<std::vector<Stage>> rounds_of(const Plan& plan, const DoneChunks& done);

/// The array's source as the plan wants it cut. `own` keeps the uncut source alive.
const ArraySource& cut_as_planned(const ArraySource& source, const ArrayPlan& plan, std::unique_ptr<ArraySource>& own);

/// Opens what the stages need.
class StageOpener {
 public:
  StageOpener(const Plan& plan, const Reader& reader, const std::vector<ArrayMeta>& sources, Writer& writer,
              const std::vector<ArrayMeta>& targets)
      : plan_(plan), reader_(reader), sources_(sources), writer_(writer), targets_(targets) {}

  /// An intermediate is made for the first of its stages, and goes with the run of the second. Throws what opening
  /// throws.
  std::shared_ptr<ArrayRun> open(const Stage& stage);

 private:
  const Plan& plan_;
  const Reader& reader_;
  const std::vector<ArrayMeta>& sources_;
  Writer& writer_;
  const std::vector<ArrayMeta>& targets_;
  std::shared_ptr<ScratchArray> scratch_;  // between the two stages of an array, as the next
  std::shared_ptr<std::atomic<std::uint64_t>> scratch_sum_;
};

}  // namespace chunkwise
