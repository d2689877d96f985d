#include "format/hdf5/writer.h"

#include <algorithm>
#include <bit>
#include <iterator>

#include "format/hdf5/element_access.h"
#include "format/hdf5/element_copy.h"
#include "format/hdf5/format.h"
#include "format/hdf5/reader.h"
#include "format/hdf5/sink.h"

namespace chunkwise::hdf5 {

Hdf5Writer::Hdf5Writer(std::shared_ptr<File> file, std::map<std::string, Target> targets)
    : file_(std::move(file)), targets_(std::move(targets)) {
  const Lock lock;
  // Some structures (heaps of attributes and links) get their place only when they leave the library's cache. Now is as
  // good as later, and where chunks will lie then depends on nothing but the order of the calls.
  try {
    checked(lock, H5Fflush(file_->id(), H5F_SCOPE_LOCAL), "cannot write the metadata", Code::internal);
  } catch (Error& error) {
    throw error.in(file_->path());
  }
}

std::unique_ptr<Hdf5Sink> Hdf5Writer::open_sink(const std::string& path, const Target& target, std::uint32_t number) {
  Hid dataset;
  {
    const Lock lock;
    dataset =
        owned(lock, H5Dopen2(file_->id(), target.path.c_str(), H5P_DEFAULT), "cannot open " + path, Code::internal);
  }
  return make_sink(file_, std::move(dataset), target.meta, number);
}

std::unique_ptr<ArraySink> Hdf5Writer::open_array(const std::string& path) {
  place_again();
  const auto found = targets_.find(path);
  CHUNKWISE_CHECK(found != targets_.end());
  return open_sink(path, found->second, static_cast<std::uint32_t>(std::distance(targets_.begin(), found)));
}

std::optional<std::string> Hdf5Writer::checkpoint() {
  Packer state;
  pack(state, file_->checkpoint());
  return state.take();
}

void Hdf5Writer::go_on_from(CheckpointStates states, std::unique_ptr<const KeptRanges> kept) {
  earlier_ = std::move(states);
  kept_ = std::move(kept);
}

void Hdf5Writer::place_again() {
  const Lock lock;
  if (earlier_ == nullptr) return;
  const CheckpointStates states = std::exchange(earlier_, nullptr);
  std::map<std::uint32_t, std::unique_ptr<Hdf5Sink>> sinks;
  states([&](ByteView state) {
    for (const Allocation& allocation : unpack_allocations(state)) {
      std::unique_ptr<Hdf5Sink>& sink = sinks[allocation.array];
      if (sink == nullptr) {
        if (allocation.array >= targets_.size()) throw Error(Code::corrupt, "the journal tells of an unknown array");
        const auto& [path, target] = *std::next(targets_.begin(), allocation.array);
        sink = open_sink(path, target, allocation.array);
      }
      sink->place_again(allocation);
    }
    file_->forget_noted(lock);  // it is in the journal already
  });
  file_->forget_kept(lock);
  kept_.reset();
}

std::unique_ptr<ElementSink> Hdf5Writer::open_elements(const std::string& path, std::uint64_t most_bytes) {
  place_again();
  const auto found = targets_.find(path);
  CHUNKWISE_CHECK(found != targets_.end());
  return open_element_sink({file_, found->second.path, found->second.meta, false}, most_bytes);
}

void Hdf5Writer::copy_elements(const std::string& path, const Reader& source, const ElementWork& work) {
  place_again();
  const auto* reader = dynamic_cast<const Hdf5Reader*>(&source);
  const auto found = targets_.find(path);
  CHUNKWISE_CHECK(reader != nullptr && found != targets_.end());
  const ElementPlace from = reader->place(path);
  // Between files of different formats only elements without references are copied, which need no objects.
  CHUNKWISE_CHECK(objects_ || from.meta.dtype.is_varying());
  ObjectMap none(*from.file, file_->id());
  try {
    hdf5::copy_elements(from, {file_, found->second.path, found->second.meta, false}, objects_ ? *objects_ : none,
                        work);
  } catch (Error& error) {
    throw error.in(path);
  }
}

void Hdf5Writer::finish() {
  place_again();
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

namespace {

std::unique_ptr<Hdf5Writer> begin(const std::string& path, const Hierarchy& tree, bool netcdf, const KeptRanges* kept) {
  if (const FileNative* source = copied_from(tree, netcdf)) return write_native(path, tree, *source, kept);
  return write_neutral(path, tree, netcdf, kept);
}

std::unique_ptr<Hdf5Writer> resume(const std::string& path, const Hierarchy& tree, bool netcdf,
                                   const CheckpointStates& states) {
  auto kept = std::make_unique<KeptRanges>();
  states([&kept](ByteView state) {
    for (const Allocation& allocation : unpack_allocations(state)) kept->add(allocation.address, allocation.size_bytes);
  });
  kept->sort();
  auto writer = begin(path, tree, netcdf, kept.get());
  writer->go_on_from(states, std::move(kept));
  return writer;
}

}  // namespace

std::unique_ptr<Writer> create_nc4(const std::string& path, const Hierarchy& tree) {
  return begin(path, tree, true, nullptr);
}

std::unique_ptr<Writer> create_h5(const std::string& path, const Hierarchy& tree) {
  return begin(path, tree, false, nullptr);
}

std::unique_ptr<Writer> resume_nc4(const std::string& path, const Hierarchy& tree, const EarlierWork& earlier) {
  return resume(path, tree, true, earlier.for_each_state);
}

std::unique_ptr<Writer> resume_h5(const std::string& path, const Hierarchy& tree, const EarlierWork& earlier) {
  return resume(path, tree, false, earlier.for_each_state);
}

}  // namespace chunkwise::hdf5
