// Speed of the strided copy where a rewrite uses it: a map scattered into a tile, a tile gathered into a narrow chunk,
// an axis order reversed. One thread; argument: bytes of an element.
#include <benchmark/benchmark.h>

#include <vector>

#include "grid/strided_copy.h"

namespace {

using chunkwise::Box;
using chunkwise::BoxCopy;
using chunkwise::ByteOrder;
using chunkwise::Index;
using chunkwise::Shape;

std::size_t elements(const Shape& shape) {
  std::size_t product = 1;
  for (Index length : shape) product *= static_cast<std::size_t>(length);
  return product;
}

void run(benchmark::State& state, BoxCopy copy) {
  copy.element = {static_cast<std::size_t>(state.range(0)), static_cast<std::size_t>(state.range(0))};
  const std::vector<std::byte> src(elements(copy.src_box.shape) * copy.element.bytes);
  std::vector<std::byte> dst(elements(copy.dst_box.shape) * copy.element.bytes);
  for (auto _ : state) {
    chunkwise::copy_box(copy, src.data(), dst.data());
    benchmark::ClobberMemory();
  }
  const auto moved = static_cast<std::int64_t>(elements(copy.part.shape) * copy.element.bytes);
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * moved);
}

/// One map of 277 x 349 into a tile of 64 x 277 x 349.
void scatter_map(benchmark::State& state) {
  const Box tile{{0, 0, 0}, {64, 277, 349}};
  const Box map{{31, 0, 0}, {1, 277, 349}};
  run(state, {map, {}, tile, {}, map, {}});
}
BENCHMARK(scatter_map)->Arg(1)->Arg(2)->Arg(4)->Arg(8);

/// A chunk of 64 x 28 x 35 out of that tile.
void gather_chunk(benchmark::State& state) {
  const Box tile{{0, 0, 0}, {64, 277, 349}};
  const Box chunk{{0, 84, 105}, {64, 28, 35}};
  run(state, {tile, {}, chunk, {}, chunk, {}});
}
BENCHMARK(gather_chunk)->Arg(1)->Arg(2)->Arg(4)->Arg(8);

/// The same with big-endian elements on one side.
void gather_chunk_swapped(benchmark::State& state) {
  const Box tile{{0, 0, 0}, {64, 277, 349}};
  const Box chunk{{0, 84, 105}, {64, 28, 35}};
  run(state, {tile, {{}, ByteOrder::big}, chunk, {}, chunk, {}});
}
BENCHMARK(gather_chunk_swapped)->Arg(2)->Arg(4)->Arg(8);

/// Zarr's order F to order C.
void transpose(benchmark::State& state) {
  const Box box{{0, 0, 0}, {128, 128, 64}};
  run(state, {box, {{2, 1, 0}, ByteOrder::little}, box, {}, box, {}});
}
BENCHMARK(transpose)->Arg(1)->Arg(2)->Arg(4)->Arg(8);

}  // namespace
