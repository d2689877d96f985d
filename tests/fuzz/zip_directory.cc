// Zip files: the directory, and objects read whole and in pieces, which must be the same.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "base/error.h"
#include "store/zip_index.h"
#include "store/zip_object.h"

using namespace chunkwise;

namespace {

constexpr std::size_t kMostEntries = 32;
constexpr std::uint64_t kMostObjectBytes = 1u << 20;

class MemoryFile final : public Object {
 public:
  MemoryFile(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}
  std::uint64_t size_bytes() const override { return size_; }
  void read(std::uint64_t offset, MutableByteView out) const override {
    // What is asked for must have been checked before.
    if (offset > size_ || out.size() > size_ - offset) throw Error(Code::corrupt, "beyond the end");
    if (!out.empty()) std::memcpy(out.data(), data_ + offset, out.size());
  }

 private:
  const std::uint8_t* data_;
  std::size_t size_;
};

void read_object(const std::shared_ptr<const Object>& file, const ZipIndex& index, const ZipEntry& entry) {
  try {
    const auto object = open_zip_object(file, index, entry);
    if (object->size_bytes() > kMostObjectBytes) return;
    const auto size = static_cast<std::size_t>(object->size_bytes());
    Bytes whole(size);
    object->read(0, whole.span());
    Bytes pieces(size);
    const std::size_t half = size / 2;
    object->read(half, pieces.span().subspan(half));
    object->read(0, pieces.span().first(half));
    if (!std::equal(whole.view().begin(), whole.view().end(), pieces.view().begin())) std::abort();
  } catch (const Error& error) {
    if (error.code() != Code::corrupt && error.code() != Code::unsupported) throw;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const auto file = std::make_shared<const MemoryFile>(data, size);
    const ZipIndex index(*file);
    for (std::size_t i = 0; i < std::min(index.n_entries(), kMostEntries); ++i) {
      if (index.find(index.key(i)) != &index.entry(i)) std::abort();
      read_object(file, index, index.entry(i));
    }
  } catch (const Error& error) {
    if (error.code() != Code::corrupt && error.code() != Code::unsupported) throw;
  }
  return 0;
}
