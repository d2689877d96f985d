// Small HDF5 files made with the plain library, and checks of our sources against it.
#pragma once

#include <hdf5.h>
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <cstring>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "../store/scratch_directory.h"
#include "array/source.h"
#include "codec/chain.h"
#include "codec/registry.h"
#include "format/hdf5/file.h"
#include "format/hdf5/filter.h"
#include "format/hdf5/sink.h"
#include "format/hdf5/source.h"

namespace chunkwise::hdf5::testing {

using chunkwise::testing::ScratchDirectory;

inline std::vector<hsize_t> extents(const Shape& shape) {
  std::vector<hsize_t> result;
  for (const Index n : shape) result.push_back(n == kUnlimited ? H5S_UNLIMITED : static_cast<hsize_t>(n));
  return result;
}

/// One int32 dataset "/T". Empty chunk: contiguous.
struct Recipe {
  Shape shape;
  Shape max_shape;  // rank 0: as shape
  Shape chunk;
  std::string codecs = "none";
  Storage storage = Storage::chunked;
  bool raw_edges = false;
  H5D_alloc_time_t allocate = H5D_ALLOC_TIME_DEFAULT;
  std::int32_t fill = -5;
};

inline ArrayMeta meta_of(const Recipe& recipe) {
  ArrayMeta meta;
  meta.path = "/T";
  meta.dtype = {DType::Kind::int_, 4, {}};
  meta.shape = recipe.shape;
  meta.max_shape = recipe.max_shape.rank() > 0 ? recipe.max_shape : recipe.shape;
  meta.storage = recipe.storage;
  meta.pads_edges = recipe.storage == Storage::chunked;
  meta.chunk = meta.pads_edges ? recipe.chunk : linear_chunk(recipe.shape, 4);
  if (!meta.pads_edges && recipe.chunk.rank() > 0) meta.chunk = recipe.chunk;
  meta.codecs = parse_codecs(recipe.codecs);
  meta.raw_edges = recipe.raw_edges;
  meta.fill.resize(4);
  std::memcpy(meta.fill.data(), &recipe.fill, 4);
  return meta;
}

inline Hid create_dataset(const Lock& lock, hid_t file, const Recipe& recipe, const std::string& name = "T") {
  const ArrayMeta meta = meta_of(recipe);
  const Hid dcpl = owned(lock, H5Pcreate(H5P_DATASET_CREATE), "dcpl");
  if (recipe.storage == Storage::chunked) {
    checked(lock, H5Pset_chunk(dcpl.get(), recipe.chunk.rank(), extents(recipe.chunk).data()), "chunk");
    if (recipe.raw_edges) {
      checked(lock, H5Pset_chunk_opts(dcpl.get(), H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS), "chunk options");
    }
    for (const CodecSpec& spec : meta.codecs) {
      const CodecRow& row = *find_codec(spec.name);
      const std::vector<unsigned> values = row.to_hdf5(spec, 4, meta.chunk_bytes());
      checked(lock, H5Pset_filter(dcpl.get(), row.hdf5_filter, 0, values.size(), values.data()), "filter");
    }
  } else {
    checked(lock, H5Pset_layout(dcpl.get(), recipe.storage == Storage::compact ? H5D_COMPACT : H5D_CONTIGUOUS),
            "layout");
  }
  if (recipe.allocate != H5D_ALLOC_TIME_DEFAULT) {
    checked(lock, H5Pset_alloc_time(dcpl.get(), recipe.allocate), "allocation");
  }
  checked(lock, H5Pset_fill_value(dcpl.get(), H5T_NATIVE_INT32, &recipe.fill), "fill");
  const Hid space = owned(lock,
                          recipe.shape.rank() == 0 ? H5Screate(H5S_SCALAR)
                                                   : H5Screate_simple(recipe.shape.rank(), extents(meta.shape).data(),
                                                                      extents(meta.max_shape).data()),
                          "space");
  return owned(lock, H5Dcreate2(file, name.c_str(), H5T_STD_I32LE, space.get(), H5P_DEFAULT, dcpl.get(), H5P_DEFAULT),
               "dataset");
}

/// What element number i (row-major) holds where it was written.
inline std::int32_t value_at(Index i) {
  return static_cast<std::int32_t>(i * 7 + 3);
}

inline std::vector<std::int32_t> all_values(const Shape& shape) {
  std::vector<std::int32_t> values(static_cast<std::size_t>(product(shape)));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = value_at(static_cast<Index>(i));
  return values;
}

/// Writes the values of `box` through the library.
inline void write_box(const Lock& lock, hid_t dataset, const Shape& shape, const Box& box) {
  std::vector<std::int32_t> part(static_cast<std::size_t>(product(box.shape)));
  const std::vector<std::int32_t> values = all_values(shape);
  copy_box({whole(shape), {}, box, {}, box, {4, 4}}, reinterpret_cast<const std::byte*>(values.data()),
           reinterpret_cast<std::byte*>(part.data()));
  const Hid file_space = owned(lock, H5Dget_space(dataset), "space");
  checked(lock,
          H5Sselect_hyperslab(file_space.get(), H5S_SELECT_SET, extents(box.origin).data(), nullptr,
                              extents(box.shape).data(), nullptr),
          "select");
  const Hid memory = owned(lock, H5Screate_simple(box.shape.rank(), extents(box.shape).data(), nullptr), "space");
  checked(lock, H5Dwrite(dataset, H5T_NATIVE_INT32, memory.get(), file_space.get(), H5P_DEFAULT, part.data()), "write");
}

/// The whole dataset as the plain library (its own driver, its own filters) reads it.
inline std::vector<std::int32_t> library_values(const std::string& path, const std::string& name = "T") {
  const Lock lock;
  const Hid file = owned(lock, H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), "open " + path);
  const Hid dataset = owned(lock, H5Dopen2(file.get(), name.c_str(), H5P_DEFAULT), "open T");
  const Hid space = owned(lock, H5Dget_space(dataset.get()), "space");
  std::vector<std::int32_t> values(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space.get())));
  checked(lock, H5Dread(dataset.get(), H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), "read");
  return values;
}

inline std::unique_ptr<ArraySource> open_source(const std::shared_ptr<File>& file, const Recipe& recipe) {
  const Lock lock;
  Hid dataset = owned(lock, H5Dopen2(file->id(), "T", H5P_DEFAULT), "open T");
  return make_source(file, std::move(dataset), meta_of(recipe));
}

/// The whole array as our source and codecs read it, all chunks asked for at once and in random order.
inline std::vector<std::int32_t> source_values(const ArraySource& source) {
  const ArrayMeta& meta = source.meta();
  const ChunkGrid& grid = source.grid();
  std::vector<std::int32_t> values(static_cast<std::size_t>(product(meta.shape)));
  std::vector<ChunkId> ids(static_cast<std::size_t>(grid.n_chunks()));
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = ChunkId{static_cast<Index>(i)};
  std::shuffle(ids.begin(), ids.end(), std::mt19937(7));
  ReadBatch batch;
  source.read(ids, batch);
  const CodecChain chain(meta.codecs, meta.dtype.bytes);
  CodecChain::Scratch scratch;
  Bytes fill;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const Box box = meta.pads_edges ? grid.full_box(ids[i]) : grid.box(ids[i]);
    const auto n_bytes = static_cast<std::size_t>(product(box.shape)) * 4;
    ByteView decoded;
    if (batch.chunks[i].absent) {
      fill.resize(n_bytes);
      fill_elements(fill.span(), meta.fill);
      decoded = fill.view();
    } else {
      decoded = chain.decode(batch.chunks[i].bytes, n_bytes, batch.chunks[i].skipped_codecs, scratch);
    }
    copy_box({box, {}, whole(meta.shape), {}, grid.box(ids[i]), {4, 4}}, decoded.data(),
             reinterpret_cast<std::byte*>(values.data()));
  }
  return values;
}

template <typename F>
Error error_of(F&& body) {
  try {
    body();
  } catch (const Error& error) {
    return error;
  }
  FAIL("no error was thrown");
  return {Code::ok, ""};
}

}  // namespace chunkwise::hdf5::testing
