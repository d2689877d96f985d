// Plans for random problems: what is read is never more than the best published algorithm reads with the same memory,
// counted here by our own re-implementation of it.
#include "rechunk/intermediate.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <random>

#include "base/error.h"
#include "rechunk/plan.h"
#include "rechunk/tiling.h"

using namespace chunkwise;

namespace {

using Random = std::mt19937_64;
Index pick(Random& random, Index least, Index most) {
  return std::uniform_int_distribution<Index>(least, most)(random);
}
/// All magnitudes alike.
Index pick_size(Random& random, Index least, Index most) {
  std::uniform_real_distribution<double> exponent(std::log(static_cast<double>(least)),
                                                  std::log(static_cast<double>(most) + 0.99));
  return std::clamp(static_cast<Index>(std::exp(exponent(random))), least, most);
}

/// Growth of a region from a chunk, last axis first: all of an axis if it fits, else as many whole chunks as fit, and
/// never beyond `limit`.
Shape consolidated(const Shape& chunk, const Shape& limit, std::uint64_t element_bytes, std::uint64_t most_bytes) {
  Shape region = clip(chunk, limit);
  for (int axis = chunk.rank() - 1; axis >= 0; --axis) {
    const std::uint64_t bytes = shape_bytes(region, element_bytes);
    const auto headroom = static_cast<Index>(most_bytes / bytes);
    if (headroom <= 1) break;
    region[axis] = std::min(limit[axis], region[axis] * headroom);
  }
  return region;
}

std::uint64_t chunks_read(const Shape& array, const Shape& chunk, const Shape& region) {
  std::uint64_t n = 1;
  for (int axis = 0; axis < array.rank(); ++axis)
    n *= static_cast<std::uint64_t>(reads_along_axis(array[axis], chunk[axis], region[axis]));
  return n;
}

/// Bytes that rechunker reads: regions of its consolidated source chunks, then, unless those are the ones that are
/// written, regions of consolidated target chunks from an intermediate whose chunks are the smaller of both.
std::uint64_t bytes_rechunker_reads(const ArrayMeta& source, const ArrayMeta& target, std::uint64_t most_bytes) {
  const std::uint64_t element_bytes = source.dtype.bytes;
  const Shape written = consolidated(target.chunk, target.shape, element_bytes, most_bytes);
  Shape limit = written;  // only where it is longer
  for (int axis = 0; axis < limit.rank(); ++axis)
    limit[axis] = std::max(limit[axis], std::min(source.chunk[axis], source.shape[axis]));
  const Shape read = consolidated(source.chunk, limit, element_bytes, most_bytes);
  const std::uint64_t first = chunks_read(source.shape, source.chunk, read) * source.chunk_bytes();
  if (read == written) return first;
  Shape between = read;
  for (int axis = 0; axis < between.rank(); ++axis) between[axis] = std::min(read[axis], written[axis]);
  return first + chunks_read(source.shape, between, written) * shape_bytes(between, element_bytes);
}

struct Problem {
  ArrayMeta source;
  ArrayMeta target;
  PlanRequest request;
};

Problem random_problem(Random& random) {
  Problem problem;
  ArrayMeta& source = problem.source;
  source.path = "/v";
  static constexpr const char* kTypes[] = {"u1", "i2", "f4", "f8"};
  source.dtype = *parse_dtype(kTypes[pick(random, 0, 3)]);
  const Index rank = pick(random, 1, 5);
  double left = 2e9;
  for (Index axis = 0; axis < rank; ++axis) {
    source.shape.push_back(pick_size(random, 1, static_cast<Index>(std::min(1e6, left))));
    left /= static_cast<double>(source.shape[static_cast<int>(axis)]);
  }
  source.max_shape = source.shape;
  ArrayMeta& target = problem.target = source;
  for (ArrayMeta* meta : {&source, &target}) {
    double chunk_left = 1e6;
    for (const Index length : source.shape) {
      Index chunk =
          pick_size(random, 1, static_cast<Index>(std::max(1.0, std::min(chunk_left, static_cast<double>(length)))));
      if (pick(random, 0, 3) == 0) chunk = std::min<Index>(length, static_cast<Index>(chunk_left));
      meta->chunk.push_back(std::max<Index>(chunk, 1));
      chunk_left /= static_cast<double>(meta->chunk[meta->chunk.rank() - 1]);
    }
  }
  source.n_stored_chunks = source.grid().n_chunks();
  source.stored_bytes = static_cast<std::uint64_t>(source.n_stored_chunks) * source.chunk_bytes();
  const std::uint64_t all = shape_bytes(source.shape, source.dtype.bytes);
  const std::uint64_t least = std::max(source.chunk_bytes(), target.chunk_bytes());
  // From what a plan needs at all to more than the array.
  const auto room = static_cast<std::uint64_t>(pick_size(random, static_cast<Index>(std::max(least, all / 100)),
                                                         static_cast<Index>(std::max(least, all / 2) + 1)));
  problem.request.n_threads = static_cast<int>(pick(random, 1, 4));
  problem.request.memory_bytes = room + 6 * least + (8u << 20);
  problem.request.scratch = ScratchSpace{"/tmp", ~std::uint64_t{0}, false};
  return problem;
}

}  // namespace

TEST_CASE("no plan reads more than rechunker's with the same memory") {
  int n_through = 0;
  int n_planned = 0;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    Random random(seed);
    const Problem problem = random_problem(random);
    const ArrayMeta& source = problem.source;
    const ArrayMeta& target = problem.target;
    Plan plan;
    try {
      plan = make_plan({{&source, &target}}, problem.request);
    } catch (const Error& e) {
      REQUIRE(e.code() == Code::budget);
      continue;
    }
    const ArrayPlan& array = plan.arrays[0];
    if (array.kind != ArrayPlan::Kind::rewrite) continue;
    ++n_planned;
    const std::uint64_t ours = array.read_bytes + (array.intermediate ? array.intermediate->scratch_bytes : 0);
    // What it keeps of its tasks is counted as ours.
    const std::uint64_t tasks = bookkeeping_bytes(
        source, source.chunk, consolidated(target.chunk, target.shape, source.dtype.bytes, plan.tile_room_bytes));
    if (tasks >= plan.tile_room_bytes ||
        plan.tile_room_bytes - tasks < std::max(source.chunk_bytes(), target.chunk_bytes()))
      continue;
    const std::uint64_t theirs = bytes_rechunker_reads(source, target, plan.tile_room_bytes - tasks);
    const std::string why_not = array.choices.size() == 2 ? array.choices[1].why_not : "";
    CAPTURE(seed, why_not, to_string(source.shape), to_string(source.chunk), to_string(target.chunk),
            source.dtype.name(), plan.tile_room_bytes, array.passes, to_string(array.tile), ours, theirs);
    // To keep all threads busy, the planner may read three percent more.
    CHECK(static_cast<double>(ours) <= 1.03 * static_cast<double>(theirs));
    if (!array.intermediate) continue;
    ++n_through;
    const IntermediatePlan& through = *array.intermediate;
    // Every source chunk once, every box in one tile of either stage.
    REQUIRE(array.passes == 1);
    REQUIRE(through.scratch_bytes == array.decoded_bytes);
    REQUIRE(through.fill.tile_bytes <= plan.tile_room_bytes);
    REQUIRE(array.tile_bytes <= plan.tile_room_bytes);
    REQUIRE(through.index_bytes <= plan.scratch_index_bytes);
    for (int i = 0; i < 20; ++i) {
      const Box box = through.boxes.box(ChunkId{pick(random, 0, through.boxes.n_boxes() - 1)});
      REQUIRE(shape_bytes(box.shape, source.dtype.bytes) <= kBox_bytes);
      REQUIRE(ChunkGrid(source.shape, through.fill.tile).chunks_of(box).shape == Shape::filled(box.shape.rank(), 1));
      REQUIRE(ChunkGrid(source.shape, array.tile).chunks_of(box).shape == Shape::filled(box.shape.rank(), 1));
    }
  }
  REQUIRE(n_planned > 2000);
  REQUIRE(n_through > 150);
}

TEST_CASE("the cheapest way is taken, and the other one told") {
  // 400 MB, every target chunk needs every source chunk.
  ArrayMeta source;
  source.path = "/v";
  source.dtype = *parse_dtype("f4");
  source.shape = source.max_shape = Shape{1000, 100000};
  source.chunk = Shape{10, 100000};
  source.n_stored_chunks = 100;
  source.stored_bytes = 400'000'000;
  ArrayMeta target = source;
  target.chunk = Shape{1000, 100};
  PlanRequest request;
  request.base_bytes = 24u << 20;
  request.memory_bytes = 64u << 20;
  request.n_threads = 2;

  const auto plan_of = [&] { return make_plan({{&source, &target}}, request); };
  // Nowhere to put an intermediate.
  const Plan again = plan_of();
  REQUIRE_FALSE(again.arrays[0].intermediate);
  REQUIRE(again.arrays[0].passes > 10);
  REQUIRE(again.arrays[0].choices.empty());

  request.scratch = ScratchSpace{"/tmp", 1u << 30, false};
  const Plan through = plan_of();
  REQUIRE(through.arrays[0].intermediate);
  REQUIRE(through.arrays[0].passes == 1);
  REQUIRE(through.scratch_folder == "/tmp");
  const std::vector<PlanChoice>& choices = through.arrays[0].choices;
  REQUIRE(choices.size() == 2);
  CHECK(choices[0].by_intermediate);
  CHECK(choices[0].why_not.empty());
  CHECK(choices[0].read_bytes == 400'000'000);
  CHECK(choices[0].scratch_bytes == 400'000'000);
  CHECK(choices[1].passes == again.arrays[0].passes);
  CHECK(choices[1].why_not == "takes longer");
  CHECK(choices[0].seconds < choices[1].seconds);
  const std::uint64_t held = through.base_bytes + 2 * through.worker_bytes + through.read_ahead_bytes +
                             through.tiles_bytes + through.scratch_index_bytes;
  CHECK(held <= request.memory_bytes);

  // Too small a disk: told, and refused only where the folder was named.
  request.scratch->free_bytes = 1000;
  const Plan no_room = plan_of();
  REQUIRE_FALSE(no_room.arrays[0].intermediate);
  CHECK(no_room.arrays[0].choices[1].why_not == "needs 381.5 MiB of scratch space, '/tmp' has 1000 B");
  request.scratch->is_required = true;
  try {
    plan_of();
    FAIL("planned");
  } catch (const Error& e) {
    CHECK(e.code() == Code::io);
  }

  // With room for all there is nothing to weigh.
  request.memory_bytes = 1u << 30;
  CHECK(plan_of().arrays[0].choices.empty());
}
