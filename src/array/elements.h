// Elements of any length (texts, lists of numbers) on their way from one format to another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "array/meta.h"
#include "base/bytes.h"
#include "grid/box.h"

namespace chunkwise {

/// One element in somebody else's memory: the bytes of a text, or the numbers of a list in the array's byte order. An
/// element may also be null, which is not the same as being empty; only HDF5 knows the difference.
struct ElementView {
  const std::byte* data = nullptr;
  std::uint64_t size_bytes = 0;

  ElementView() = default;
  /// Not null, even without a byte.
  explicit ElementView(ByteView bytes);
  bool is_null() const { return data == nullptr; }
  ByteView bytes() const { return {data, static_cast<std::size_t>(size_bytes)}; }
  /// The same bytes, or both null.
  friend bool operator==(const ElementView& a, const ElementView& b);
};

/// ArrayMeta::fill of such an array: empty for a null element, else the bytes and one more, so that an empty element is
/// not null.
std::vector<std::byte> fill_of(const ElementView& element);
/// The inverse; valid as long as `meta` lives unchanged.
ElementView fill_element(const ArrayMeta& meta);

/// Reads the elements of one array where only its format can. Not thread-safe; the Reader must outlive it.
class ElementSource {
 public:
  virtual ~ElementSource() = default;
  const ArrayMeta& meta() const { return meta_; }
  /// False if nothing of this chunk of the array was ever written. Such chunks must not be read.
  virtual bool is_written(ChunkId id) = 0;
  /// Whether readers of the format see the fill in such chunks if others were written.
  virtual bool unwritten_is_readable() const { return true; }
  /// The elements of `box`, which lies in one chunk, in C order; valid until the next call. False if they take more
  /// memory than there is, but parts of the box may take less. Throws Error{budget} if that is hopeless,
  /// Error{corrupt}, Error{io}.
  virtual bool read(const Box& box, std::vector<ElementView>& elements) = 0;

 protected:
  explicit ElementSource(ArrayMeta meta) : meta_(std::move(meta)) {}
  ArrayMeta meta_;
};

/// Writes the elements of one array. Not thread-safe; must die before the Writer finishes.
class ElementSink {
 public:
  virtual ~ElementSink() = default;
  /// Stores a whole chunk, clipped at the end of the array: its elements in C order. Throws Error{budget} if the memory
  /// does not suffice, Error{io}, Error{unsupported} for an element the format cannot store.
  virtual void write(ChunkId id, std::span<const ElementView> elements) = 0;
  /// A chunk that reads as fill and is not stored. Every chunk is either written or left out.
  virtual void leave_out(ChunkId /*id*/) {}
  /// As of a source.
  virtual bool unwritten_is_readable() const { return true; }
};

}  // namespace chunkwise
