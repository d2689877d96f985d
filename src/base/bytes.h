// Byte views and the one owned buffer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace chunkwise {

using ByteView = std::span<const std::byte>;
using MutableByteView = std::span<std::byte>;

/// Owned bytes, 64-byte aligned, not initialised, growing without keeping more than one block.
/// Not thread-safe; movable, not copyable.
class Bytes {
 public:
  Bytes() = default;
  explicit Bytes(std::size_t size_bytes) { resize(size_bytes); }
  Bytes(Bytes&& other) noexcept;
  Bytes& operator=(Bytes&& other) noexcept;
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;
  ~Bytes();

  static Bytes copy_of(ByteView bytes);

  /// Changes the size. Old content is kept up to the smaller size; new bytes are undefined.
  /// Throws Error{budget} if the system has no such memory.
  void resize(std::size_t size_bytes);
  /// Like resize, but the content is undefined afterwards (no copy when the block must grow).
  void resize_discard(std::size_t size_bytes);
  /// Gives the block back to the system.
  void release();

  std::byte* data() { return data_; }
  const std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }
  std::size_t capacity() const { return capacity_; }
  bool empty() const { return size_ == 0; }
  ByteView view() const { return {data_, size_}; }
  MutableByteView span() { return {data_, size_}; }
  operator ByteView() const { return view(); }

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

/// The bytes of a text, not copied.
inline ByteView as_bytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}
/// The bytes as text, not copied.
inline std::string_view as_text(ByteView bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace chunkwise
