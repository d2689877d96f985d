// HDF5 datatypes and our element types.
#pragma once

#include <string>

#include "array/dtype.h"
#include "format/hdf5/handle.h"
#include "grid/strided_copy.h"

namespace chunkwise::hdf5 {

/// What the bytes of an element mean.
struct ElementType {
  DType dtype;
  ByteOrder byte_order = kNativeOrder;
};

/// Classifies a datatype. Numbers are integers of 1, 2, 4 or 8 bytes that use all their bits, IEEE floats of 2, 4 or 8
/// bytes, and the enum {FALSE=0, TRUE=1} on one byte, h5py's bool; strings of fixed length are text, others string,
/// lists of numbers of variable length are list. Everything else is Kind::other with its words.
ElementType element_type(const Lock& lock, hid_t type);

/// "compound of 3 members", "variable-length string", "17-bit integer": for messages.
std::string describe_type(const Lock& lock, hid_t type);

/// The file type of a number or text. bool becomes h5py's enum.
Hid make_type(const Lock& lock, const DType& dtype, ByteOrder byte_order);

/// A string type of `bytes` (0: variable length).
Hid make_string_type(const Lock& lock, std::size_t bytes, H5T_str_t padding, bool utf8);

/// A type that belongs to no file, equal to `type` (which may be committed in one).
Hid transient_copy(const Lock& lock, hid_t type);

}  // namespace chunkwise::hdf5
