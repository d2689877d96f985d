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

/// Classifies a datatype. Numbers are integers of 1, 2, 4 or 8 bytes that use all their bits, and enumerations of
/// those, IEEE floats of 2, 4 or 8 bytes, and the enum {FALSE=0, TRUE=1} on one byte, h5py's bool; the compound {r, i}
/// of two equal floats is a complex number, as h5py has them; strings of fixed length are text, DType::other having
/// their character set and padding, others string; lists of numbers of variable length are list; opaque types are raw,
/// with their tag; compounds of all these of fixed size, of arrays and of each other are structured. Everything else is
/// Kind::other with its words. Types that are objects have no name yet.
ElementType element_type(const Lock& lock, hid_t type);

/// True if make_type can make it, and netCDF-4 can read it.
bool has_type(const DType& dtype, bool netcdf);
/// True if netCDF-4 reads it only as a type with a name of its own.
bool needs_name(const DType& dtype);

/// "compound of 3 members", "variable-length string", "17-bit integer": for messages.
std::string describe_type(const Lock& lock, hid_t type);

/// The file type, where has_type: the inverse of element_type.
Hid make_type(const Lock& lock, const DType& dtype, ByteOrder byte_order);

/// A string type of `bytes` (0: variable length).
Hid make_string_type(const Lock& lock, std::size_t bytes, H5T_str_t padding, bool utf8);

/// A type that belongs to no file, equal to `type` (which may be committed in one).
Hid transient_copy(const Lock& lock, hid_t type);

}  // namespace chunkwise::hdf5
