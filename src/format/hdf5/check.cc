#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "codec/registry.h"
#include "format/hdf5/attributes.h"
#include "format/hdf5/format.h"
#include "format/hdf5/native.h"
#include "format/hdf5/pipeline.h"
#include "format/hdf5/reference_fill.h"
#include "format/hdf5/shared_messages.h"

namespace chunkwise::hdf5 {
namespace {

constexpr Index kMaxChunkLength = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint64_t kMaxChunkBytes = std::numeric_limits<std::uint32_t>::max();
/// An object header message holds 64 KiB, its own head included.
constexpr std::uint64_t kMaxCompactBytes = 65'500;

std::string axis_name(const ArrayMeta& meta, int axis) {
  const auto at = static_cast<std::size_t>(axis);
  return at < meta.dims.size() && !meta.dims[at].empty() ? "dimension " + meta.dims[at] : fmt::format("axis {}", axis);
}

void check_chunked(const ArrayMeta& meta) {
  if (meta.shape.rank() == 0)
    throw Error(Code::unsupported, "HDF5 cannot chunk a scalar", "leave its chunks and codecs as they are");
  for (int axis = 0; axis < meta.shape.rank(); ++axis) {
    const Index length = meta.chunk[axis];
    if (meta.max_shape[axis] != kUnlimited && length > std::max<Index>(meta.max_shape[axis], 1))
      throw Error(Code::unsupported,
                  fmt::format("a chunk of {} along {} is longer than the {} elements it can ever have", length,
                              axis_name(meta, axis), meta.max_shape[axis]),
                  fmt::format("ask for {} at most", std::max<Index>(meta.max_shape[axis], 1)));
    if (length > kMaxChunkLength)
      throw Error(Code::unsupported,
                  fmt::format("a chunk of {} along {} is longer than HDF5's limit of {}", length, axis_name(meta, axis),
                              kMaxChunkLength),
                  "ask for smaller chunks with -c");
  }
  if (meta.chunk_bytes() > kMaxChunkBytes)
    throw Error(Code::unsupported,
                fmt::format("a chunk of {} has {} bytes, HDF5 allows fewer than 4 GiB", to_string(meta.chunk),
                            meta.chunk_bytes()),
                "ask for smaller chunks with -c");
  for (const CodecSpec& spec : meta.codecs) {
    const CodecRow* const row = find_codec(spec.name);
    if (foreign_filter_id(spec.name) != 0 || (row != nullptr && row->hdf5_filter != 0 && row->to_hdf5 != nullptr))
      continue;
    throw Error(Code::unsupported, fmt::format("HDF5 has no filter for the codec {}", spec.name),
                "choose another with --codec, such as shuffle,deflate:1");
  }
}

void check_linear(const ArrayMeta& meta) {
  const char* const storage = meta.storage == Storage::compact ? "compact" : "contiguous";
  if (!meta.codecs.empty())
    throw Error(Code::unsupported,
                fmt::format("{} elements cannot be encoded with {}", storage, to_string(meta.codecs)),
                "give it chunks with -c, or no codecs with --codec none");
  for (int axis = 0; axis < meta.shape.rank(); ++axis)
    if (meta.max_shape[axis] != meta.shape[axis])
      throw Error(Code::unsupported, fmt::format("{} may grow, so it cannot be {}", axis_name(meta, axis), storage),
                  "give it chunks with -c");
  if (meta.storage == Storage::compact) {
    const auto n = checked_product(meta.shape);
    if (!n || static_cast<std::uint64_t>(*n) * meta.dtype.bytes > kMaxCompactBytes)
      throw Error(Code::unsupported, "compact storage holds at most 64 KiB", "use -c contiguous");
  }
}

void check_fill(const ArrayNative& native) {
  const Lock lock;
  if (has_reference_fill(lock, *native.file, native.path))
    throw Error(Code::unsupported, "a fill value that refers to an object cannot be kept",
                "leave the dataset out with --exclude");
  if (!shares_messages(lock, native.file->id())) return;
  const Hid dataset = owned(lock, H5Dopen2(native.file->id(), native.path.c_str(), H5P_DEFAULT), "cannot open it");
  const Hid type = owned(lock, H5Dget_type(dataset.get()), "cannot read its type");
  fresh_creation_list(lock, creation_list(lock, dataset.get()).get(), type.get());
}

}  // namespace

void check(const Hierarchy& tree) {
  for (const ArrayNode& node : tree.arrays) {
    const auto* native = dynamic_cast<const ArrayNative*>(node.native.get());
    try {
      if (native != nullptr && node.meta.dtype.refers) check_fill(*native);
      if ((native != nullptr && native->null_space) || node.meta.storage == Storage::virtual_) continue;
      if (native != nullptr && node.meta.dtype.refers && native->meta.n_stored_chunks > 0) {
        const Lock lock;
        require_filters(lock, native->meta.codecs);
        require_filters(lock, node.meta.codecs);
      }
      if (node.meta.storage == Storage::chunked)
        check_chunked(node.meta);
      else
        check_linear(node.meta);
    } catch (Error& error) {
      throw error.in(node.meta.path);
    }
  }
}

}  // namespace chunkwise::hdf5
