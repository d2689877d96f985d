// The header of a classic file: what there is, and where the elements lie.
//
//   header   := "CDF" version n_records list(dimension) list(attribute) list(variable)
//   list(x)  := zero count(0)  |  tag count x...
//   name     := count bytes, padded to 4;   attribute := name type count values, padded to 4
//   dimension := name length (0: the record dimension)
//   variable := name list_of(dimension number) list(attribute) type vsize begin
//
// All numbers are big-endian. Tags and types have 32 bits; counts, lengths and vsize 64 in CDF-5, else 32; begin 32 in
// CDF-1, else 64. vsize repeats what type and dimensions say, and cannot say it beyond 32 bits: it is never read.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "array/attribute.h"
#include "array/hierarchy.h"
#include "base/bytes.h"
#include "format/netcdf3/types.h"
#include "store/store.h"

namespace chunkwise::netcdf3 {

/// Where a variable's elements lie: slabs of bytes, one if it is fixed, else one for each record.
struct Place {
  std::uint64_t begin_bytes = 0;
  std::uint64_t slab_bytes = 0;     // without padding
  std::uint64_t padding_bytes = 0;  // after each slab
  std::uint64_t stride_bytes = 0;   // from slab to slab
  std::uint64_t n_slabs = 1;
};

struct Variable {
  std::string name;
  std::vector<std::size_t> dimensions;  // positions in Header::dimensions
  std::vector<Attribute> attributes;
  NcType type = NcType::i1;
  bool is_record = false;
  Place place;
};

struct Header {
  int version = 1;
  std::uint64_t n_records = 0;
  std::vector<Dimension> dimensions;  // the unlimited one has n_records elements
  std::vector<Attribute> attributes;
  std::vector<Variable> variables;
  std::uint64_t record_bytes = 0;  // of one record of all record variables
  std::uint64_t size_bytes = 0;    // of the header itself
};

/// Reads and checks the header. No number of it is used before it is known to fit the file and 63 bits.
/// Throws Error{corrupt}, and Error{unsupported} for more axes than we have.
Header read_header(const Object& file);

/// Sets is_record, slab, padding and stride of every variable, and record_bytes, from dimensions and types.
/// Throws Error{corrupt} if a variable passes 2^63 bytes.
void measure(Header& header);

/// Sets size_bytes and the begin of every variable the way netCDF-C lays out a new file: fixed variables in order, then
/// the records. Returns the bytes of the whole file. Throws Error{unsupported} beyond 2^63.
std::uint64_t lay_out(Header& header);

/// The smallest version that can hold the header, which is measured: types, lengths, counts, and 2 GiB (CDF-1) or 4 GiB
/// (CDF-2) of any variable but the last. Begins are laid out.
int least_version(Header header);

/// The bytes of the header.
std::string print_header(const Header& header);

}  // namespace chunkwise::netcdf3
