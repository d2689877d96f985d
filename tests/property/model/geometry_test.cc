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

TEST_CASE("steps and fixed places equal brute force, 10,000 random reads") {
  std::mt19937_64 random(1994);
  const auto pick = [&](Index low, Index high) { return std::uniform_int_distribution<Index>(low, high)(random); };
  struct Axis {
    Index length, chunk, count, step;
  };
  // Chunks touched by one read, as positions in row-major order of the grid, by looking at every element.
  const auto brute = [](const std::vector<Axis>& axes, const std::vector<Index>& start) {
    std::set<Index> chunks = {0};
    for (std::size_t i = 0; i < axes.size(); ++i) {
      std::set<Index> next;
      for (const Index before : chunks) {
        for (Index k = 0; k < axes[i].count; ++k) {
          next.insert(before * ceil_div(axes[i].length, axes[i].chunk) + (start[i] + k * axes[i].step) / axes[i].chunk);
        }
      }
      chunks = std::move(next);
    }
    return chunks;
  };
  const auto runs_and_gap = [](const std::set<Index>& chunks) {
    std::pair<double, double> result{1, 0};
    Index last = *chunks.begin();
    for (const Index id : chunks) {
      if (id > last + 1) {
        result.first += 1;
        result.second += static_cast<double>(id - last - 1);
      }
      last = id;
    }
    return result;
  };
  for (int round = 0; round < 10000; ++round) {
    std::vector<Axis> axes;
    for (Index rank = pick(1, 3), i = 0; i < rank; ++i) {
      const Index length = pick(1, rank == 1 ? 40 : 9);
      const Index step = pick(1, 6);
      axes.push_back({length, pick(1, length + 1), pick(1, (length - 1) / step + 1), step});
    }
    std::vector<AxisTouch> uniform;
    double elements_expected = 1;
    double chunks_expected = 1;
    for (const auto& a : axes) {
      uniform.push_back(touch_axis(a.length, a.chunk, a.count, a.step));
      chunks_expected *= uniform.back().chunks;
      elements_expected *= uniform.back().elements;
    }
    double sum_chunks = 0, sum_elements = 0, sum_runs = 0, sum_gap = 0;
    int n = 0;
    std::vector<Index> start(axes.size());
    while (true) {
      const auto chunks = brute(axes, start);
      const auto [runs, gap] = runs_and_gap(chunks);
      std::vector<AxisTouch> fixed;
      double n_fixed = 1;
      double elements = 1;
      for (std::size_t i = 0; i < axes.size(); ++i) {
        const auto& a = axes[i];
        fixed.push_back(touch_axis_at(a.length, a.chunk, start[i], a.count, a.step));
        n_fixed *= fixed.back().chunks;
        elements *= fixed.back().elements;
        Index covered = 0;
        std::set<Index> along;
        for (Index k = 0; k < a.count; ++k) along.insert((start[i] + k * a.step) / a.chunk);
        for (const Index c : along) covered += std::min(a.length, (c + 1) * a.chunk) - c * a.chunk;
        REQUIRE(fixed.back().elements == static_cast<double>(covered));
      }
      double gap_fixed = 0;
      visit_gaps(fixed, [&](double count, double units) { gap_fixed += count * units; });
      REQUIRE(n_fixed == static_cast<double>(chunks.size()));
      REQUIRE(expected_runs(fixed) == Approx(runs).epsilon(1e-12));
      REQUIRE(gap_fixed == Approx(gap).epsilon(1e-9).margin(1e-9));
      sum_chunks += n_fixed;
      sum_elements += elements;
      sum_runs += runs;
      sum_gap += gap;
      ++n;
      std::size_t i = axes.size();
      while (i > 0 && ++start[i - 1] + (axes[i - 1].count - 1) * axes[i - 1].step >= axes[i - 1].length) start[--i] = 0;
      if (i == 0) break;
    }
    double gap_expected = 0;
    visit_gaps(uniform, [&](double count, double units) { gap_expected += count * units; });
    REQUIRE(chunks_expected == Approx(sum_chunks / n).epsilon(1e-12));
    REQUIRE(elements_expected == Approx(sum_elements / n).epsilon(1e-12));
    REQUIRE(expected_runs(uniform) == Approx(sum_runs / n).epsilon(1e-9));
    REQUIRE(gap_expected == Approx(sum_gap / n).epsilon(1e-9).margin(1e-9));
  }
}
