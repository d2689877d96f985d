// Random arrays, grids, codecs, byte orders and memory: what the executor writes is what a naive loop expects.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>

#include "../../support/memory_dataset.h"
#include "array/scratch_array.h"
#include "base/checked.h"
#include "rechunk/execute.h"
#include "rechunk/intermediate.h"
#include "rechunk/plan.h"
#include "rechunk/share.h"
#include "rechunk/tiling.h"
#include "rechunk/verify.h"

using namespace chunkwise;
using chunkwise::testing::MemoryDataset;

namespace {

using Random = std::mt19937_64;
Index pick(Random& random, Index least, Index most) {
  return std::uniform_int_distribution<Index>(least, most)(random);
}

/// The value every element should have: a ramp in C order, stored in `order`; chunks that do not exist hold the fill.
std::uint32_t value_at(const Shape& shape, const Shape& at) {
  std::uint32_t number = 1;
  for (int axis = 0; axis < shape.rank(); ++axis)
    number = number * static_cast<std::uint32_t>(shape[axis] + 1) + static_cast<std::uint32_t>(at[axis]);
  return number * 2654435761u;
}

std::uint32_t swapped(std::uint32_t v) {
  return __builtin_bswap32(v);
}

template <typename Function>
void for_each(const Box& box, Function&& function) {
  if (box.empty()) return;
  Shape at = box.origin;
  for (;;) {
    function(at);
    int axis = at.rank() - 1;
    while (axis >= 0 && ++at[axis] == box.origin[axis] + box.shape[axis]) {
      at[axis] = box.origin[axis];
      --axis;
    }
    if (axis < 0) return;
  }
}

/// Position of an element in a dense buffer over `box` in `layout` order.
std::size_t offset_in(const Box& box, const ElementLayout& layout, const Shape& at) {
  Index offset = 0;
  for (int i = 0; i < at.rank(); ++i) {
    const int axis = layout.axes.rank() == 0 ? i : static_cast<int>(layout.axes[i]);
    offset = offset * box.shape[axis] + (at[axis] - box.origin[axis]);
  }
  return static_cast<std::size_t>(offset);
}

ElementLayout random_layout(Random& random, int rank) {
  ElementLayout layout;
  layout.byte_order = pick(random, 0, 3) == 0 ? ByteOrder::big : ByteOrder::little;
  if (rank > 1 && pick(random, 0, 2) == 0) {
    for (int axis = rank - 1; axis >= 0; --axis) layout.axes.push_back(axis);
  }
  return layout;
}

CodecSpecs random_codecs(Random& random) {
  switch (pick(random, 0, 3)) {
    case 0:
      return {{"zstd", {{"level", std::int64_t{1}}}}};
    case 1:
      return {{"shuffle", {{"element_bytes", std::int64_t{4}}}}, {"deflate", {{"level", std::int64_t{1}}}}};
    default:
      return {};
  }
}

constexpr std::uint32_t kFill = 0xDEADBEEF;

ArrayMeta random_meta(Random& random, const Shape& shape) {
  ArrayMeta meta;
  meta.path = "/v";
  meta.dtype = *parse_dtype("u4");
  meta.shape = shape;
  meta.max_shape = shape;
  meta.layout = random_layout(random, shape.rank());
  meta.codecs = random_codecs(random);
  for (Index length : shape) meta.chunk.push_back(pick(random, 1, std::max<Index>(1, length + 2)));
  meta.fill.resize(4);
  const std::uint32_t fill = meta.layout.byte_order == ByteOrder::little ? kFill : swapped(kFill);
  std::memcpy(meta.fill.data(), &fill, 4);
  return meta;
}

void fill_source(Random& random, MemoryDataset& dataset, ArrayMeta& meta, std::map<Index, bool>& present,
                 bool all = false) {
  const ChunkGrid grid = meta.grid();
  const CodecChain chain(meta.codecs, 4);
  CodecChain::Scratch scratch;
  for (Index i = 0; i < grid.n_chunks(); ++i) {
    present[i] = all || pick(random, 0, 4) != 0;
    if (!present[i]) continue;
    const Box box = grid.full_box(ChunkId{i});
    std::vector<std::uint32_t> elements(static_cast<std::size_t>(product(box.shape)), 0xFFFFFFFF);
    for_each(grid.box(ChunkId{i}), [&](const Shape& at) {
      const std::uint32_t v = value_at(meta.shape, at);
      elements[offset_in(box, meta.layout, at)] = meta.layout.byte_order == ByteOrder::little ? v : swapped(v);
    });
    const ByteView encoded = chain.encode(std::as_bytes(std::span(elements)), scratch);
    dataset.chunks(meta.path).bytes[i] = std::string(as_text(encoded));
    ++meta.n_stored_chunks;
    meta.stored_bytes += encoded.size();
  }
}

/// The same, encoded otherwise.
std::shared_ptr<const IntermediatePlan> with_codecs(const IntermediatePlan& plan, Index which) {
  auto changed = std::make_shared<IntermediatePlan>(plan);
  changed->meta.codecs = scratch_codecs(changed->meta.dtype.bytes)[static_cast<std::size_t>(which)].codecs;
  return changed;
}

/// Makes the plan one through an intermediate, with tiles as small as they may be, or somewhat larger.
bool through_intermediate(Random& random, const ArrayMeta& source, const ArrayMeta& target, Plan& plan) {
  ArrayPlan& array = plan.arrays[0];
  if (array.kind != ArrayPlan::Kind::rewrite) return false;
  IntermediateRequest request{source, target};
  request.most_block_bytes = ~std::uint64_t{0};
  request.most_index_bytes = 64u << 20;  // of the smallest boxes there are many
  request.most_box_bytes = static_cast<std::uint64_t>(pick(random, 1, 400));
  const std::uint64_t least = std::max(source.chunk_bytes(), target.chunk_bytes());
  request.room_bytes = least * static_cast<std::uint64_t>(pick(random, 1, 3));
  while (!go_through_intermediate(request, array)) request.room_bytes += request.room_bytes / 2;
  array.intermediate = with_codecs(*array.intermediate, pick(random, 0, 2));
  plan.tiles_bytes = std::max({plan.tiles_bytes, array.tile_bytes, array.intermediate->fill.tile_bytes});
  plan.scratch_folder = "/tmp";
  return true;
}

}  // namespace

TEST_CASE("the executor moves every element, whatever the grids") {
  int n_through = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    Shape shape;
    const Index rank = pick(random, 0, 4);
    for (Index axis = 0; axis < rank; ++axis) shape.push_back(pick(random, seed % 17 == 0 ? 0 : 1, rank < 3 ? 60 : 14));

    ArrayMeta source_meta = random_meta(random, shape);
    ArrayMeta target_meta = random_meta(random, shape);
    if (pick(random, 0, 5) == 0) target_meta.chunk = source_meta.chunk;
    MemoryDataset source;
    source.add(source_meta);
    std::map<Index, bool> present;
    fill_source(random, source, source_meta, present);
    source.meta(0) = source_meta;
    source.chunks("/v").is_locatable = pick(random, 0, 2) != 0;
    MemoryDataset target;
    target.add(target_meta);

    PlanRequest request;
    request.n_threads = static_cast<int>(pick(random, 1, 3));
    request.memory_bytes = 64u << 20;
    request.proves_all = pick(random, 0, 1) == 0;
    // Sometimes so little that many tiles and passes are needed.
    if (seed % 2 == 0) {
      request.memory_bytes = 1;
      try {
        make_plan({{&source_meta, &target_meta}}, request);
        FAIL("a plan in one byte");
      } catch (const Error& e) {
        REQUIRE(e.code() == Code::budget);
        const std::string hint = e.hint();
        const std::size_t digit = hint.find_first_of("0123456789");
        request.memory_bytes = std::stoull(hint.substr(digit)) << 20;
      }
    }
    Plan plan = make_plan({{&source_meta, &target_meta}}, request);
    const bool goes_through = pick(random, 0, 1) == 0 && through_intermediate(random, source_meta, target_meta, plan);
    n_through += goes_through ? 1 : 0;
    DoneChunks done({target_meta});
    const ExecuteResult result =
        execute(plan, source, {source_meta}, target, {target_meta}, done, {}, std::stop_token());

    REQUIRE(source.chunks("/v").n_reads == result.totals.n_chunks_read);
    if (goes_through) {
      REQUIRE(result.totals.n_chunks_read == source_meta.n_stored_chunks);
      REQUIRE(result.totals.scratch_read_bytes == result.totals.scratch_written_bytes);
    }
    const ChunkGrid grid = target_meta.grid();
    const ChunkGrid source_grid = source_meta.grid();
    const CodecChain chain(target_meta.codecs, 4);
    CodecChain::Scratch scratch;
    for (Index i = 0; i < grid.n_chunks(); ++i) {
      const ChunkId id{i};
      bool any = false;
      for (ChunkId s : source_grid.overlapping(grid.box(id))) any = any || present[linear(s)];
      const auto found = target.chunks("/v").bytes.find(i);
      REQUIRE((found != target.chunks("/v").bytes.end()) == any);
      if (!any) continue;
      const Box box = grid.full_box(id);
      const ByteView decoded =
          chain.decode(as_bytes(found->second), static_cast<std::size_t>(product(box.shape)) * 4, 0, scratch);
      std::vector<std::uint32_t> elements(decoded.size() / 4);
      std::memcpy(elements.data(), decoded.data(), decoded.size());
      bool all_right = true;
      for_each(box, [&](const Shape& at) {
        std::uint32_t wanted = kFill;  // padding holds the fill
        bool inside = true;
        for (int axis = 0; axis < at.rank(); ++axis) inside = inside && at[axis] < shape[axis];
        if (inside) {
          Shape coords = at;
          for (int axis = 0; axis < at.rank(); ++axis) coords[axis] /= source_meta.chunk[axis];
          if (present[linear(source_grid.id(coords))]) wanted = value_at(shape, at);
        }
        const std::uint32_t got = elements[offset_in(box, target_meta.layout, at)];
        const bool copied_padding = !inside && plan.arrays[0].kind == ArrayPlan::Kind::copy_chunks;
        all_right = all_right && (copied_padding ||
                                  (target_meta.layout.byte_order == ByteOrder::little ? got : swapped(got)) == wanted);
      });
      REQUIRE(all_right);
    }

    for (const VerifyMode mode : {VerifyMode::sample, VerifyMode::full})
      REQUIRE_NOTHROW(
          verify(mode, plan, source, {source_meta}, target, target.tree(), result.proofs, {}, std::stop_token()));
    // A flipped element is found.
    if (plan.arrays[0].kind == ArrayPlan::Kind::rewrite && target_meta.codecs.empty() &&
        !target.chunks("/v").bytes.empty()) {
      target.chunks("/v").bytes.begin()->second[0] ^= 1;
      try {
        verify(VerifyMode::full, plan, source, {source_meta}, target, target.tree(), result.proofs, {},
               std::stop_token());
        FAIL("a flipped bit was not found");
      } catch (const Error& e) {
        REQUIRE(e.code() == Code::mismatch);
      }
    }
  }
  REQUIRE(n_through > 50);
}

namespace {

/// A length of some kind: small, prime, a power of two, or up to a million.
Index pick_extent(Random& random, Index most) {
  static constexpr Index kPrimes[] = {2, 3, 5, 7, 11, 13, 17, 31, 61, 97, 127, 251, 509, 997, 4999, 99991};
  Index length = 1;
  switch (pick(random, 0, 3)) {
    case 0:
      length = kPrimes[pick(random, 0, 15)];
      break;
    case 1:
      length = Index{1} << pick(random, 0, 10);
      break;
    case 2:
      length = pick(random, 1, 1'000'000);
      break;
    default:
      length = pick(random, 1, 60);
  }
  return std::clamp<Index>(length, 1, most);
}

struct Problem {
  std::vector<ArrayMeta> sources;
  std::vector<ArrayMeta> targets;
  MemoryDataset source;
  MemoryDataset target;
};

/// One to four arrays of up to 200,000 elements together; chunks of a source share nothing with those of its target.
void make_problem(Random& random, Problem& problem) {
  const Index n_arrays = pick(random, 1, 4);
  for (Index i = 0; i < n_arrays; ++i) {
    Shape shape;
    Index left = 200'000 / n_arrays;
    for (Index axis = pick(random, 1, 5); axis > 0; --axis) {
      shape.push_back(pick_extent(random, left));
      left = std::max<Index>(1, left / shape[shape.rank() - 1]);
    }
    const auto meta_of = [&] {
      ArrayMeta meta = random_meta(random, shape);
      meta.path = "/v" + std::to_string(i);
      // Some hundred chunks at most, so that a thousand problems take seconds.
      static constexpr Index kMostOnAxis[] = {1, 300, 16, 6, 4, 3};
      for (int axis = 0; axis < shape.rank(); ++axis)
        meta.chunk[axis] = std::max(meta.chunk[axis], ceil_div(shape[axis], kMostOnAxis[shape.rank()]));
      return meta;
    };
    ArrayMeta source = meta_of();
    std::map<Index, bool> present;
    problem.source.add(source);
    fill_source(random, problem.source, source, present, true);
    problem.source.meta(static_cast<std::size_t>(i)) = source;
    problem.sources.push_back(source);
    problem.targets.push_back(meta_of());
    problem.target.add(problem.targets.back());
  }
}

bool holds_ramp(MemoryDataset& dataset, const ArrayMeta& meta) {
  const ChunkGrid grid = meta.grid();
  const CodecChain chain(meta.codecs, 4);
  CodecChain::Scratch scratch;
  bool right = true;
  for (Index i = 0; i < grid.n_chunks(); ++i) {
    const auto found = dataset.chunks(meta.path).bytes.find(i);
    if (found == dataset.chunks(meta.path).bytes.end()) return false;
    const Box box = grid.full_box(ChunkId{i});
    const ByteView decoded =
        chain.decode(as_bytes(found->second), static_cast<std::size_t>(product(box.shape)) * 4, 0, scratch);
    for_each(grid.box(ChunkId{i}), [&](const Shape& at) {
      std::uint32_t got = 0;
      std::memcpy(&got, decoded.data() + offset_in(box, meta.layout, at) * 4, 4);
      right = right && (meta.layout.byte_order == ByteOrder::little ? got : swapped(got)) == value_at(meta.shape, at);
    });
  }
  return right;
}

}  // namespace

TEST_CASE("random problems, a thousand with CHUNKWISE_FULL: what is read and written is what was planned") {
  int n_again = 0;
  int n_through = 0;
  const int n_problems = std::getenv("CHUNKWISE_FULL") != nullptr ? 1000 : 60;
  for (std::uint64_t seed = 0; seed < static_cast<std::uint64_t>(n_problems); ++seed) {
    CAPTURE(seed);
    Random random(seed);
    Problem problem;
    make_problem(random, problem);
    std::vector<PlanInput> inputs;
    for (std::size_t i = 0; i < problem.sources.size(); ++i)
      inputs.push_back({&problem.sources[i], &problem.targets[i]});
    PlanRequest request;
    request.n_threads = static_cast<int>(pick(random, 1, 3));
    request.memory_bytes = 256u << 20;
    request.proves_all = pick(random, 0, 1) == 0;
    Plan plan = make_plan(inputs, request);
    // Arrays of this size always fit: as if each had less, from its largest chunk to all of it.
    std::uint64_t wanted_bytes = 0;
    Index wanted_reads = 0;
    Index wanted_writes = 0;
    std::uint64_t wanted_scratch_bytes = 0;
    for (std::size_t i = 0; i < plan.arrays.size(); ++i) {
      const ArrayMeta& source = problem.sources[i];
      const ArrayMeta& target = problem.targets[i];
      ArrayPlan& array = plan.arrays[i];
      if (array.kind == ArrayPlan::Kind::rewrite) {
        const auto least = static_cast<double>(target.chunk_bytes());
        const double all = std::max(least, static_cast<double>(array.decoded_bytes));
        const double part = static_cast<double>(pick(random, 0, 1000)) / 1000;
        const auto room = static_cast<std::uint64_t>(least * std::pow(2 * all / least, part));
        set_tile(source, target, choose_tile(source, target, room), room, array);
        Plan one = plan;
        one.arrays = {array};
        if (array.passes > 1.001 && pick(random, 0, 1) == 0 && through_intermediate(random, source, target, one)) {
          array = one.arrays[0];
          plan.tiles_bytes = std::max(plan.tiles_bytes, one.tiles_bytes);
          plan.scratch_folder = one.scratch_folder;
          ++n_through;
          if (array.intermediate->meta.codecs.empty()) wanted_scratch_bytes += array.decoded_bytes;
        }
        n_again += array.passes > 1.001 ? 1 : 0;
      }
      // Only chunks of one size can be foretold to the byte when some of them are read more often than others.
      if (source.codecs.empty() || array.passes == 1) wanted_bytes += array.read_bytes;
      wanted_reads += array.n_source_reads;
      wanted_writes += array.n_target_chunks;
    }
    DoneChunks done(problem.targets);
    const ExecuteResult result =
        execute(plan, problem.source, problem.sources, problem.target, problem.targets, done, {}, std::stop_token());
    REQUIRE(result.totals.n_chunks_read == wanted_reads);
    REQUIRE(result.totals.n_chunks_written == wanted_writes);
    bool foretold = true;
    bool raw_scratch = true;
    for (std::size_t i = 0; i < plan.arrays.size(); ++i) {
      foretold = foretold && (problem.sources[i].codecs.empty() || plan.arrays[i].passes == 1);
      const auto& through = plan.arrays[i].intermediate;
      raw_scratch = raw_scratch && (!through || through->meta.codecs.empty());
    }
    if (foretold) REQUIRE(result.totals.read_bytes == wanted_bytes);
    if (raw_scratch) REQUIRE(result.totals.scratch_written_bytes == wanted_scratch_bytes);
    for (const ArrayMeta& target : problem.targets) REQUIRE(holds_ramp(problem.target, target));
  }
  CHECK(n_again > n_problems / 5);
  CHECK(n_through > n_problems / 20);
}

TEST_CASE("shares of a plan write every chunk once, and the content that one process writes") {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    Shape shape;
    const Index rank = pick(random, 0, 3);
    for (Index axis = 0; axis < rank; ++axis) shape.push_back(pick(random, 1, 40));
    ArrayMeta source_meta = random_meta(random, shape);
    ArrayMeta target_meta = random_meta(random, shape);
    if (pick(random, 0, 3) == 0) target_meta = source_meta;
    MemoryDataset source;
    source.add(source_meta);
    std::map<Index, bool> present;
    fill_source(random, source, source_meta, present);
    source.meta(0) = source_meta;
    PlanRequest request;
    request.memory_bytes = 64u << 20;
    request.proves_all = true;
    Plan plan = make_plan({{&source_meta, &target_meta}}, request);
    if (plan.arrays[0].kind == ArrayPlan::Kind::rewrite)
      set_tile(source_meta, target_meta, target_meta.chunk, plan.tile_room_bytes, plan.arrays[0]);
    MemoryDataset alone;
    alone.add(target_meta);
    DoneChunks all({target_meta});
    execute(plan, source, {source_meta}, alone, {target_meta}, all, {}, std::stop_token());
    MemoryDataset shared;
    shared.add(target_meta);
    const int n_parts = static_cast<int>(pick(random, 1, 9));
    Index n_done = 0;
    std::vector<ChunkProof> proofs;
    for (int part = 1; part <= n_parts; ++part) {
      DoneChunks done({target_meta}, chunks_of_others(plan, {target_meta}, {part, n_parts}));
      const ExecuteResult result =
          execute(plan, source, {source_meta}, shared, {target_meta}, done, {}, std::stop_token());
      n_done += static_cast<Index>(done.n_pending());
      proofs.insert(proofs.end(), result.proofs[0].begin(), result.proofs[0].end());
    }
    if (plan.arrays[0].kind != ArrayPlan::Kind::nothing) REQUIRE(n_done == target_meta.grid().n_chunks());
    REQUIRE(shared.chunks("/v").bytes == alone.chunks("/v").bytes);
    REQUIRE(shared.chunks("/v").n_writes == static_cast<Index>(shared.chunks("/v").bytes.size()));
    REQUIRE_NOTHROW(
        verify(VerifyMode::full, plan, source, {source_meta}, shared, shared.tree(), {proofs}, {}, std::stop_token()));
  }
}

TEST_CASE("a stop request ends the run as interrupted") {
  Random random(1);
  ArrayMeta meta = random_meta(random, Shape{50, 50});
  meta.codecs = {};
  meta.chunk = Shape{1, 50};
  ArrayMeta target_meta = meta;
  target_meta.chunk = Shape{50, 1};
  MemoryDataset source;
  source.add(meta);
  std::map<Index, bool> present;
  fill_source(random, source, meta, present);
  MemoryDataset target;
  target.add(target_meta);
  PlanRequest request;
  request.memory_bytes = 64u << 20;
  const Plan plan = make_plan({{&meta, &target_meta}}, request);
  std::stop_source stop;
  stop.request_stop();
  try {
    DoneChunks done({target_meta});
    execute(plan, source, {meta}, target, {target_meta}, done, {}, stop.get_token());
    FAIL("not interrupted");
  } catch (const Error& e) {
    REQUIRE(e.code() == Code::interrupted);
  }
}
