// Elements that one format can only hold in another form than the other, of the same size.
#pragma once

#include "array/meta.h"
#include "base/bytes.h"

namespace chunkwise {

/// Turns elements of a source's type into those of a target's: members of structured types change their byte order,
/// code points of four bytes become UTF-8. Empty where the elements are the same, but for the order of their bytes,
/// which is the business of the copy. Thread-safe.
class ElementChange {
 public:
  ElementChange() = default;
  ElementChange(const ArrayMeta& from, const ArrayMeta& to);

  bool empty() const { return kind_ == Kind::none; }
  /// In place; elements as the source stores them. Throws Error{unsupported} for a text that is no Unicode.
  void apply(MutableByteView elements) const;

 private:
  enum class Kind { none, member_order, utf8 };
  Kind kind_ = Kind::none;
  DType from_;
  DType to_;
  ByteOrder order_ = kNativeOrder;
};

}  // namespace chunkwise
