#include "format/hdf5/writer.h"

#include <algorithm>
#include <bit>

#include "format/hdf5/element_copy.h"
#include "format/hdf5/format.h"
#include "format/hdf5/reader.h"
#include "format/hdf5/sink.h"

namespace chunkwise::hdf5 {

std::unique_ptr<ArraySink> Hdf5Writer::open_array(const std::string& path) {
  const auto found = targets_.find(path);
  CHUNKWISE_CHECK(found != targets_.end());
  Hid dataset;
  {
    const Lock lock;
    dataset = owned(lock, H5Dopen2(file_->id(), found->second.path.c_str(), H5P_DEFAULT), "cannot open " + path,
                    Code::internal);
  }
  return make_sink(file_, std::move(dataset), found->second.meta);
}

void Hdf5Writer::copy_elements(const std::string& path, const Reader& source, const ElementWork& work) {
  const auto* reader = dynamic_cast<const Hdf5Reader*>(&source);
  const auto found = targets_.find(path);
  CHUNKWISE_CHECK(reader != nullptr && objects_ && found != targets_.end());
  try {
    hdf5::copy_elements(reader->place(path), {file_, found->second.path, found->second.meta, false}, *objects_, work);
  } catch (Error& error) {
    throw error.in(path);
  }
}

void Hdf5Writer::finish() {
  file_->finish();
}

std::uint64_t metadata_block_bytes(const Hierarchy& tree) {
  // A B-tree node of version 1 holds 64 chunks in about 2.5 KiB at three axes; ask for an eighth of the index at once.
  constexpr std::uint64_t kLeast = 2048;
  constexpr std::uint64_t kMost = 1u << 20;
  constexpr std::uint64_t kIndexBytesPerChunk = 40;
  std::uint64_t n_chunks = 0;
  for (const ArrayNode& node : tree.arrays)
    if (node.meta.storage == Storage::chunked) n_chunks += static_cast<std::uint64_t>(node.meta.grid().n_chunks());
  return std::clamp(std::bit_ceil(n_chunks * kIndexBytesPerChunk / 8 + 1), kLeast, kMost);
}

std::unique_ptr<Writer> create_nc4(const std::string& path, const Hierarchy& tree) {
  if (const FileNative* source = copied_from(tree, true)) return write_native(path, tree, *source);
  return write_neutral(path, tree, true);
}

std::unique_ptr<Writer> create_h5(const std::string& path, const Hierarchy& tree) {
  if (const FileNative* source = copied_from(tree, false)) return write_native(path, tree, *source);
  return write_neutral(path, tree, false);
}

}  // namespace chunkwise::hdf5
