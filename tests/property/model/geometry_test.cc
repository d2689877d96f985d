// Closed forms against counting, chunk by chunk, at every offset of many small arrays.
#include "model/geometry.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <set>

#include "base/checked.h"
#include "grid/chunk_grid.h"

using namespace chunkwise;

namespace {

struct Counted {
  std::set<Index> chunks;
  std::uint64_t bytes = 0;
  std::uint64_t runs = 0;
  std::vector<Index> gaps;  // chunks between runs
};

Counted count(const Shape& array, const Shape& chunk, std::size_t element_bytes, bool pads, const Box& box) {
  const ChunkGrid grid(array, chunk);
  Counted counted;
  // Every element's chunk.
  Shape at = box.origin;
  while (true) {
    Shape coords = at;
    for (int axis = 0; axis < at.rank(); ++axis) coords[axis] = at[axis] / chunk[axis];
    counted.chunks.insert(linear(grid.id(coords)));
    int axis = at.rank() - 1;
    while (axis >= 0 && ++at[axis] == box.origin[axis] + box.shape[axis]) at[axis] = box.origin[axis], --axis;
    if (axis < 0) break;
  }
  Index last = -2;
  for (const Index id : counted.chunks) {
    const Box covered = pads ? grid.full_box(ChunkId{id}) : grid.box(ChunkId{id});
    counted.bytes += static_cast<std::uint64_t>(product(covered.shape)) * element_bytes;
    if (id != last + 1) {
      ++counted.runs;
      if (last >= 0) counted.gaps.push_back(id - last - 1);
    }
    last = id;
  }
  return counted;
}

}  // namespace

TEST_CASE("chunks, bytes and runs equal brute force at every offset, and so do their means") {
  std::mt19937_64 random(20130129);
  const auto pick = [&](Index low, Index high) { return std::uniform_int_distribution<Index>(low, high)(random); };
  int n_places = 0;
  for (int round = 0; round < 3000; ++round) {
    const int rank = static_cast<int>(pick(1, 4));
    Shape array;
    Shape chunk;
    Shape extent;
    for (int axis = 0; axis < rank; ++axis) {
      array.push_back(pick(1, rank < 3 ? 14 : 6));
      chunk.push_back(pick(1, array[axis] + 2));
      const auto kind = pick(0, 3);
      extent.push_back(kind == 0 ? 1 : kind == 1 ? array[axis] : pick(1, array[axis]));
    }
    const bool pads = pick(0, 1) == 1;
    std::vector<AxisTouch> axes;
    double chunks = 1;
    double elements = 1;
    for (int axis = 0; axis < rank; ++axis) {
      axes.push_back(touch_axis(array[axis], chunk[axis], extent[axis]));
      chunks *= axes.back().chunks;
      elements *= axes.back().elements;
    }

    double sum_chunks = 0;
    double sum_elements = 0;
    double sum_runs = 0;
    double sum_gap_units = 0;
    int n = 0;
    Box box{Shape::filled(rank, 0), extent};
    while (true) {
      const auto counted = count(array, chunk, 4, pads, box);
      const auto touch = touch_at(array, chunk, 4, pads, box);
      REQUIRE(touch.chunks == counted.chunks.size());
      REQUIRE(touch.bytes == counted.bytes);
      REQUIRE(touch.runs == counted.runs);
      sum_chunks += static_cast<double>(counted.chunks.size());
      sum_runs += static_cast<double>(counted.runs);
      sum_elements += static_cast<double>(touch_at(array, chunk, 1, false, box).bytes);
      for (const Index gap : counted.gaps) sum_gap_units += static_cast<double>(gap);
      ++n;
      int axis = rank - 1;
      while (axis >= 0 && ++box.origin[axis] > array[axis] - extent[axis]) box.origin[axis] = 0, --axis;
      if (axis < 0) break;
    }
    n_places += n;
    INFO(to_string(array) << " in " << to_string(chunk) << " read by " << to_string(extent));
    CHECK(chunks == Approx(sum_chunks / n).epsilon(1e-12));
    CHECK(elements == Approx(sum_elements / n).epsilon(1e-12));
    CHECK(expected_runs(axes) == Approx(sum_runs / n).epsilon(1e-12));
    double gap_units = 0;
    visit_gaps(axes, [&](double gap_count, double units) { gap_units += gap_count * units; });
    CHECK(gap_units == Approx(sum_gap_units / n).epsilon(1e-9).margin(1e-12));
  }
  CHECK(n_places > 3000);
}

TEST_CASE("expectations on long axes are exact") {
  std::mt19937_64 random(7);
  for (int round = 0; round < 300; ++round) {
    const Index length = std::uniform_int_distribution<Index>(1, 20000)(random);
    const Index chunk = std::uniform_int_distribution<Index>(1, length)(random);
    const Index extent = std::uniform_int_distribution<Index>(1, length)(random);
    double sum = 0;
    for (Index o = 0; o + extent <= length; ++o) sum += static_cast<double>((o + extent - 1) / chunk - o / chunk + 1);
    CHECK(touch_axis(length, chunk, extent).chunks ==
          Approx(sum / static_cast<double>(length - extent + 1)).epsilon(1e-13));
  }
}

TEST_CASE("axes near 2^62 neither overflow nor lose the count") {
  const Index length = Index{1} << 62;
  const auto touch = touch_axis(length, 1024, length);
  CHECK(touch.chunks == std::ldexp(1.0, 52));
  CHECK(touch.p_all == 1);
  CHECK(touch_axis(length, length, 5).chunks == 1);
  CHECK(touch_axis(length, 4, 5).chunks == Approx(2).epsilon(1e-9));
}
