// Attributes in a form every format can be translated from and to.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "array/dtype.h"
#include "grid/shape.h"

namespace chunkwise {

/// What a format keeps about its own object so that writing the same format loses nothing. Only that format's
/// code looks inside (dynamic_cast); others ignore it.
struct Native {
  virtual ~Native() = default;
};

/// The value of an attribute.
struct AttributeValue {
  enum class Kind {
    numbers,  // dtype, shape, data
    text,     // texts, shape (rank 0: one text)
    empty,    // no value, but a type (HDF5 null dataspace, zero-length netCDF attribute): dtype or text_form
    json,     // what only JSON can say: null, bool in v2/v3 attributes, nested lists, objects: json
    foreign,  // a type the neutral form has no words for: description
  };
  /// How texts were stored; other formats may ignore it.
  struct TextForm {
    bool fixed = false;  // HDF5 fixed-length (netCDF char attribute) rather than variable-length
    bool utf8 = true;    // charset tag
    friend bool operator==(const TextForm&, const TextForm&) = default;
  };

  Kind kind = Kind::json;
  DType dtype;                  // numbers; empty of a number type
  Shape shape;                  // rank 0: scalar; C order
  std::vector<std::byte> data;  // numbers: native byte order
  std::vector<std::string> texts;
  TextForm text_form;
  bool empty_is_text = false;  // kind empty: of a text type
  std::string json;            // one JSON value, compact
  std::string description;     // foreign: "compound of 3 members"

  friend bool operator==(const AttributeValue&, const AttributeValue&) = default;
};

struct Attribute {
  std::string name;
  AttributeValue value;
  std::shared_ptr<const Native> native;
};

}  // namespace chunkwise
