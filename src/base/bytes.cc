#include "base/bytes.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "base/sizes.h"

namespace chunkwise {
namespace {

constexpr std::size_t kAlignBytes = 64;

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kAddressSanitizer = true;
#elif defined(__has_feature)
constexpr bool kAddressSanitizer = __has_feature(address_sanitizer);
#else
constexpr bool kAddressSanitizer = false;
#endif

constexpr auto kMostBytes = static_cast<std::size_t>(std::numeric_limits<std::ptrdiff_t>::max());

// Blocks from this size on come straight from the system: they can grow by moving pages instead of bytes, and they
// leave the process when they are released, so that the memory we use is the memory we are seen to use. Smaller ones
// leave holes in the heap: blocks just below a limit of 1 MiB made the process half as large again as planned. Under
// the sanitizer none does, for the sake of its red zones; it ends the process at a request it thinks absurd.
constexpr std::size_t kMapBytes = kAddressSanitizer ? kMostBytes : std::size_t{1} << 17;
constexpr std::size_t kMaxRequestBytes = kAddressSanitizer ? std::size_t{1} << 39 : kMostBytes / 2;

// Large blocks are walked with long strides, where small pages cost a look-up of the page table for every few bytes.
// Only a hint: what is not touched stays out of memory, in steps of the large page.
constexpr std::size_t kHugeBytes = std::size_t{8} << 20;

void prefer_huge_pages(void* block, std::size_t capacity) {
  if (capacity >= kHugeBytes) static_cast<void>(::madvise(block, capacity, MADV_HUGEPAGE));
}

[[noreturn]] void throw_no_memory(std::size_t size_bytes) {
  throw Error(Code::budget, fmt::format("the system has no {} of memory left", format_bytes(size_bytes)),
              "lower --memory or --threads, or choose smaller chunks");
}

bool is_mapped(std::size_t capacity) {
  return capacity >= kMapBytes;
}

std::size_t page_rounded(std::size_t size_bytes) {
  static const auto page_bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return (size_bytes + page_bytes - 1) / page_bytes * page_bytes;
}

// Returns the block and sets `capacity` to what it really holds.
std::byte* allocate(std::size_t size_bytes, std::size_t& capacity) {
  if (size_bytes > kMaxRequestBytes) throw_no_memory(size_bytes);
  if (is_mapped(size_bytes)) {
    capacity = page_rounded(size_bytes);
    void* block = ::mmap(nullptr, capacity, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED) throw_no_memory(size_bytes);
    prefer_huge_pages(block, capacity);
    return static_cast<std::byte*>(block);
  }
  void* block = nullptr;
  if (::posix_memalign(&block, kAlignBytes, size_bytes) != 0) throw_no_memory(size_bytes);
  capacity = size_bytes;
  return static_cast<std::byte*>(block);
}

void deallocate(std::byte* block, std::size_t capacity) {
  if (block == nullptr) return;
  if (is_mapped(capacity)) {
    ::munmap(block, capacity);
  } else {
    std::free(block);
  }
}

}  // namespace

Bytes::Bytes(Bytes&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      capacity_(std::exchange(other.capacity_, 0)) {}

Bytes& Bytes::operator=(Bytes&& other) noexcept {
  if (this == &other) return *this;
  deallocate(data_, capacity_);
  data_ = std::exchange(other.data_, nullptr);
  size_ = std::exchange(other.size_, 0);
  capacity_ = std::exchange(other.capacity_, 0);
  return *this;
}

Bytes::~Bytes() {
  deallocate(data_, capacity_);
}

Bytes Bytes::copy_of(ByteView bytes) {
  Bytes copy(bytes.size());
  if (!bytes.empty()) std::memcpy(copy.data(), bytes.data(), bytes.size());
  return copy;
}

void Bytes::resize(std::size_t size_bytes) {
  if (size_bytes <= capacity_) {
    size_ = size_bytes;
    return;
  }
  if (is_mapped(capacity_)) {
    if (size_bytes > kMaxRequestBytes) throw_no_memory(size_bytes);
    const std::size_t capacity = page_rounded(size_bytes);
    void* block = ::mremap(data_, capacity_, capacity, MREMAP_MAYMOVE);
    if (block == MAP_FAILED) throw_no_memory(size_bytes);
    data_ = static_cast<std::byte*>(block);
    capacity_ = capacity;
  } else {
    std::size_t capacity = 0;
    std::byte* block = allocate(size_bytes, capacity);
    if (size_ != 0) std::memcpy(block, data_, size_);
    deallocate(data_, capacity_);
    data_ = block;
    capacity_ = capacity;
  }
  size_ = size_bytes;
}

void Bytes::resize_discard(std::size_t size_bytes) {
  if (size_bytes > capacity_) {
    release();
    data_ = allocate(size_bytes, capacity_);
  }
  size_ = size_bytes;
}

void Bytes::release() {
  deallocate(data_, capacity_);
  data_ = nullptr;
  size_ = 0;
  capacity_ = 0;
}

}  // namespace chunkwise
