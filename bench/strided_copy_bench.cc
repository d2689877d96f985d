// Speed of the strided copy. "bytes_per_second" counts the bytes copied once, not read plus written.
#include <benchmark/benchmark.h>

#include <cstring>
#include <string>
#include <utility>

#include "grid/strided_copy.h"

namespace chunkwise {
namespace {

std::size_t box_bytes(const Box& box, std::size_t element_bytes) {
  return static_cast<std::size_t>(product(box.shape)) * element_bytes;
}

// Touches every page, so that no fault is measured.
Bytes filled(std::size_t size_bytes) {
  Bytes bytes(size_bytes);
  for (std::size_t i = 0; i < size_bytes; ++i) bytes.data()[i] = static_cast<std::byte>(i * 31 + (i >> 9));
  return bytes;
}

void run_box_copy(benchmark::State& state, const BoxCopy& copy) {
  const Bytes src = filled(box_bytes(copy.src_box, copy.element.bytes));
  Bytes dst = filled(box_bytes(copy.dst_box, copy.element.bytes));
  for (auto _ : state) {
    copy_box(copy, src.data(), dst.data());
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) *
                          static_cast<std::int64_t>(box_bytes(copy.part, copy.element.bytes)));
}

Shape reversed_axes(int rank) {
  Shape axes = Shape::filled(rank, 0);
  for (int i = 0; i < rank; ++i) axes[i] = rank - 1 - i;
  return axes;
}

void BM_memcpy(benchmark::State& state) {
  const auto size_bytes = static_cast<std::size_t>(state.range(0));
  const Bytes src = filled(size_bytes);
  Bytes dst = filled(size_bytes);
  for (auto _ : state) {
    std::memcpy(dst.data(), src.data(), size_bytes);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * state.range(0));
}
BENCHMARK(BM_memcpy)->Arg(1 << 20)->Arg(32 << 20);

// A chunk of time/500, y/28, x/35 out of a slab of full rows: runs of 35 elements.
void BM_gather_runs(benchmark::State& state) {
  BoxCopy copy;
  copy.src_box = {{0, 0, 0}, {100, 277, 349}};
  copy.dst_box = {{0, 28, 35}, {100, 28, 35}};
  copy.part = copy.dst_box;
  copy.element = {static_cast<std::size_t>(state.range(0)), static_cast<std::size_t>(state.range(0))};
  if (state.range(1) != 0) copy.dst_layout.byte_order = ByteOrder::big;
  run_box_copy(state, copy);
}
BENCHMARK(BM_gather_runs)->ArgNames({"bytes", "swap"})->ArgsProduct({{1, 2, 4, 8, 16}, {0, 1}});

// The other direction: one whole map, cut into the chunks of time/500, y/28, x/35.
void BM_scatter_map(benchmark::State& state) {
  BoxCopy copy;
  copy.src_box = {{0, 0, 0}, {1, 277, 349}};
  copy.dst_box = {{0, 28, 35}, {500, 28, 35}};
  copy.part = {{0, 28, 35}, {1, 28, 35}};
  copy.element = {4, 4};
  run_box_copy(state, copy);
}
BENCHMARK(BM_scatter_map);

// Runs of a given length in bytes.
void BM_runs(benchmark::State& state) {
  BoxCopy copy;
  copy.src_box = {{0, 0}, {4096, state.range(0) + 16}};
  copy.dst_box = {{0, 0}, {4096, state.range(0) + 8}};
  copy.part = {{0, 0}, {4096, state.range(0)}};
  run_box_copy(state, copy);
}
BENCHMARK(BM_runs)->ArgName("bytes")->Arg(3)->Arg(8)->Arg(12)->Arg(24)->Arg(48)->Arg(100)->Arg(140)->Arg(300)->Arg(
    1000);

// C order to F order.
void BM_transpose(benchmark::State& state) {
  const auto n = state.range(1);
  BoxCopy copy;
  copy.src_box = whole({n, n});
  copy.dst_box = copy.part = copy.src_box;
  copy.dst_layout.axes = reversed_axes(2);
  copy.element = {static_cast<std::size_t>(state.range(0)), static_cast<std::size_t>(state.range(0))};
  if (state.range(2) != 0) copy.dst_layout.byte_order = ByteOrder::big;
  run_box_copy(state, copy);
}
BENCHMARK(BM_transpose)
    ->ArgNames({"bytes", "n", "swap"})
    ->ArgsProduct({{1, 2, 4, 8, 16}, {1000}, {0, 1}})
    ->Args({4, 256, 0})
    ->Args({4, 3000, 0})
    ->Args({4, 4096, 0})
    ->Args({8, 2048, 0});

// time, y, x to x, y, time.
void BM_transpose_3d(benchmark::State& state) {
  BoxCopy copy;
  copy.src_box = whole({200, 277, 349});
  copy.dst_box = copy.part = copy.src_box;
  copy.dst_layout.axes = reversed_axes(3);
  copy.element = {4, 4};
  run_box_copy(state, copy);
}
BENCHMARK(BM_transpose_3d);

// n triples to three runs of n, and back.
void BM_short_axis(benchmark::State& state) {
  BoxCopy copy;
  copy.src_box = whole({1'000'000, 3});
  copy.dst_box = copy.part = copy.src_box;
  (state.range(0) != 0 ? copy.src_layout : copy.dst_layout).axes = reversed_axes(2);
  copy.element = {4, 4};
  run_box_copy(state, copy);
}
BENCHMARK(BM_short_axis)->ArgName("back")->Arg(0)->Arg(1);

void BM_fill(benchmark::State& state) {
  Bytes out = filled(4 << 20);
  const std::string element(static_cast<std::size_t>(state.range(0)), 'x');
  std::string distinct = element;
  distinct[0] = 'y';
  for (auto _ : state) {
    fill_elements(out.span(), as_bytes(distinct));
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * static_cast<std::int64_t>(out.size()));
}
BENCHMARK(BM_fill)->ArgName("bytes")->Arg(1)->Arg(4)->Arg(8);

void BM_all_equal(benchmark::State& state) {
  Bytes data(4 << 20);
  const std::string element = "\x01\x02\x03\x04";
  fill_elements(data.span(), as_bytes(element));
  for (auto _ : state) benchmark::DoNotOptimize(all_equal(data, as_bytes(element)));
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * static_cast<std::int64_t>(data.size()));
}
BENCHMARK(BM_all_equal);

}  // namespace
}  // namespace chunkwise

BENCHMARK_MAIN();
