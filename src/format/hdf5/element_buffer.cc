#include "format/hdf5/element_buffer.h"

#include <algorithm>
#include <array>
#include <new>

namespace chunkwise::hdf5 {
namespace {

constexpr std::size_t kBlockBytes = 256U << 10U;

}  // namespace

void ElementBuffer::clear() {
  blocks_.clear();
  elements_.clear();
  used_bytes_ = 0;
  block_used_bytes_ = 0;
  overflowed_ = false;
}

// The library asks for the memory of every list. Nothing is given back one by one, so that a read broken off in the
// middle leaves nothing behind.
void* ElementBuffer::allocate(std::size_t size_bytes, void* self) noexcept {
  auto& buffer = *static_cast<ElementBuffer*>(self);
  if (size_bytes > buffer.most_bytes_) {
    buffer.overflowed_ = true;
    return nullptr;
  }
  constexpr std::size_t kAlignment = alignof(hvl_t);
  const std::size_t rounded = (std::max<std::size_t>(size_bytes, 1) + kAlignment - 1) / kAlignment * kAlignment;
  try {
    if (buffer.blocks_.empty() || buffer.blocks_.back().size() - buffer.block_used_bytes_ < rounded) {
      const std::uint64_t left = buffer.most_bytes_ - buffer.used_bytes_;
      if (rounded > left) {
        buffer.overflowed_ = true;
        return nullptr;
      }
      buffer.blocks_.emplace_back(std::max(rounded, std::min<std::size_t>(kBlockBytes, left)));
      buffer.used_bytes_ += buffer.blocks_.back().size();
      buffer.block_used_bytes_ = 0;
    }
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
  std::byte* const at = buffer.blocks_.back().data() + buffer.block_used_bytes_;
  buffer.block_used_bytes_ += rounded;
  return at;
}

bool ElementBuffer::read(const Lock& lock, hid_t dataset, const MemoryForm& form, const Box& box,
                         const std::string& what) {
  clear();
  const auto n = static_cast<std::uint64_t>(product(box.shape));
  if (n > most_bytes_ / std::max<std::size_t>(form.form.size_bytes, 1)) return false;
  elements_.resize(static_cast<std::size_t>(n) * form.form.size_bytes);
  used_bytes_ = elements_.size();
  if (elements_.empty()) return true;
  const Hid transfer = owned(lock, H5Pcreate(H5P_DATASET_XFER), "cannot create a property list", Code::internal);
  checked(lock, H5Pset_vlen_mem_manager(transfer.get(), allocate, this, ignore, this), "cannot set the memory of lists",
          Code::internal);
  const BoxSpaces spaces = box_spaces(lock, dataset, box, what);
  const herr_t result =
      H5Dread(dataset, form.type.get(), spaces.memory.get(), spaces.file.get(), transfer.get(), elements_.data());
  const bool overflowed = overflowed_;
  if (result >= 0 && !overflowed) return true;
  Error error = library_error(lock, what);
  clear();
  if (overflowed) return false;
  throw error;
}

BoxSpaces box_spaces(const Lock& lock, hid_t dataset, const Box& box, const std::string& what) {
  BoxSpaces spaces;
  spaces.file = owned(lock, H5Dget_space(dataset), what);
  const int rank = box.shape.rank();
  if (rank == 0) {
    spaces.memory = owned(lock, H5Screate(H5S_SCALAR), what, Code::internal);
    return spaces;
  }
  std::array<hsize_t, H5S_MAX_RANK> start{};
  std::array<hsize_t, H5S_MAX_RANK> count{};
  for (int axis = 0; axis < rank; ++axis) {
    start[static_cast<std::size_t>(axis)] = static_cast<hsize_t>(box.origin[axis]);
    count[static_cast<std::size_t>(axis)] = static_cast<hsize_t>(box.shape[axis]);
  }
  checked(lock, H5Sselect_hyperslab(spaces.file.get(), H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr),
          what);
  spaces.memory = owned(lock, H5Screate_simple(rank, count.data(), nullptr), what, Code::internal);
  return spaces;
}

}  // namespace chunkwise::hdf5
