#include "format/hdf5/types.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

namespace chunkwise::hdf5 {
namespace {

using Kind = DType::Kind;

constexpr int kMaxNesting = 32;
constexpr std::size_t kMaxTag = 256;  // HDF5's limit
// What DType::other says of texts that are not ASCII, or not padded with zeros (those of one byte: not terminated).
constexpr const char* kUtf8 = "utf-8";
constexpr const char* kTerminated = "null-terminated";
constexpr const char* kSpaces = "space-padded";
constexpr const char* kPadded = "null-padded";

std::optional<ByteOrder> byte_order(hid_t type) {
  switch (H5Tget_order(type)) {
    case H5T_ORDER_LE:
      return ByteOrder::little;
    case H5T_ORDER_BE:
      return ByteOrder::big;
    default:
      return std::nullopt;
  }
}

bool uses_all_bits(hid_t type) {
  return H5Tget_precision(type) == 8 * H5Tget_size(type) && H5Tget_offset(type) == 0;
}

bool is_integer(hid_t type) {
  const std::size_t bytes = H5Tget_size(type);
  return (bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8) && byte_order(type) && uses_all_bits(type);
}

bool is_ieee(hid_t type) {
  struct Layout {
    std::size_t bytes, sign_bit, exponent_bit, exponent_bits, mantissa_bits, bias;
  };
  constexpr Layout kLayouts[] = {{2, 15, 10, 5, 10, 15}, {4, 31, 23, 8, 23, 127}, {8, 63, 52, 11, 52, 1023}};
  std::size_t sign_bit = 0, exponent_bit = 0, exponent_bits = 0, mantissa_bit = 0, mantissa_bits = 0;
  if (H5Tget_fields(type, &sign_bit, &exponent_bit, &exponent_bits, &mantissa_bit, &mantissa_bits) < 0) return false;
  if (!byte_order(type) || !uses_all_bits(type) || mantissa_bit != 0 || H5Tget_norm(type) != H5T_NORM_IMPLIED)
    return false;
  for (const Layout& layout : kLayouts) {
    if (H5Tget_size(type) == layout.bytes)
      return sign_bit == layout.sign_bit && exponent_bit == layout.exponent_bit &&
             exponent_bits == layout.exponent_bits && mantissa_bits == layout.mantissa_bits &&
             H5Tget_ebias(type) == layout.bias;
  }
  return false;
}

bool has_member(hid_t type, const char* name, std::int8_t wanted) {
  std::int8_t value = 0;
  return H5Tenum_valueof(type, name, &value) >= 0 && value == wanted;
}

bool is_h5py_bool(hid_t type) {
  return H5Tget_size(type) == 1 && H5Tget_nmembers(type) == 2 && has_member(type, "FALSE", 0) &&
         has_member(type, "TRUE", 1);
}

/// A list of numbers; anything else in a list is known to HDF5 alone.
void classify_list(const Lock& lock, hid_t type, ElementType& element) {
  const Hid base = owned(lock, H5Tget_super(type), "cannot read the elements of a list type");
  const ElementType item = element_type(lock, base.get());
  if (!item.dtype.is_number() || !item.dtype.names.empty()) return;
  element.dtype.kind = DType::Kind::list;
  element.dtype.item_kind = item.dtype.kind;
  element.dtype.item_bytes = item.dtype.bytes;
  element.byte_order = item.byte_order;
}

/// True if elements hold places in the file, at any depth.
bool refers_elsewhere(const Lock& lock, hid_t type) {
  switch (H5Tget_class(type)) {
    case H5T_VLEN:
    case H5T_REFERENCE:
      return true;
    case H5T_STRING:
      return H5Tis_variable_str(type) > 0;
    case H5T_ARRAY: {
      const Hid base = owned(lock, H5Tget_super(type), "cannot read the elements of an array type");
      return refers_elsewhere(lock, base.get());
    }
    case H5T_COMPOUND: {
      const int n_members = H5Tget_nmembers(type);
      for (int i = 0; i < n_members; ++i) {
        const Hid member = owned(lock, H5Tget_member_type(type, static_cast<unsigned>(i)), "cannot read a member type");
        if (refers_elsewhere(lock, member.get())) return true;
      }
      return false;
    }
    default:
      return false;
  }
}

std::string describe_float(hid_t type) {
  if (H5Tget_order(type) == H5T_ORDER_VAX) return "VAX float";
  if (H5Tget_size(type) > 8) return fmt::format("long double of {} bytes", H5Tget_size(type));
  return fmt::format("float of {} bits that is not IEEE 754", H5Tget_precision(type));
}

/// A text from the library, and frees it.
std::string take_text(char* text) {
  if (text == nullptr) return {};
  std::string copy = text;
  H5free_memory(text);
  return copy;
}

ElementType element_type(const Lock& lock, hid_t type, int depth);

/// The integer with its names; nothing if it is no plain integer.
std::optional<ElementType> enum_type(const Lock& lock, hid_t type) {
  const Hid base = owned(lock, H5Tget_super(type), "cannot read the base of an enumeration");
  if (H5Tget_class(base.get()) != H5T_INTEGER || !is_integer(base.get())) return std::nullopt;
  ElementType element = element_type(lock, base.get(), 0);
  DType& dtype = element.dtype;
  const int n_members = checked(lock, H5Tget_nmembers(type), "cannot read an enumeration");
  for (int i = 0; i < n_members; ++i) {
    std::array<std::byte, 8> bytes{};
    const auto at = static_cast<unsigned>(i);
    checked(lock, H5Tget_member_value(type, at, bytes.data()), "cannot read a member of an enumeration");
    const MutableByteView value(bytes.data(), dtype.bytes);
    if (element.byte_order != ByteOrder::little) swap_words(dtype.bytes, value);
    std::uint64_t bits = 0;
    for (std::size_t b = 0; b < dtype.bytes; ++b) bits |= std::to_integer<std::uint64_t>(bytes[b]) << (8 * b);
    const auto unused_bits = static_cast<int>(64 - 8 * dtype.bytes);
    const auto number = static_cast<std::int64_t>(bits << unused_bits) >> unused_bits;
    dtype.names.push_back(
        {take_text(H5Tget_member_name(type, at)), dtype.kind == Kind::int_ ? number : static_cast<std::int64_t>(bits)});
  }
  return dtype.names.empty() ? std::nullopt : std::optional(std::move(element));
}

/// Goes through array types to their elements; false if they have more axes than arrays may have.
bool enter_arrays(const Lock& lock, Hid& type, Shape& shape) {
  while (H5Tget_class(type.get()) == H5T_ARRAY) {
    std::array<hsize_t, H5S_MAX_RANK> dims{};
    const int rank = checked(lock, H5Tget_array_dims2(type.get(), dims.data()), "cannot read an array type");
    if (shape.rank() + rank > kMaxRank) return false;
    for (int axis = 0; axis < rank; ++axis) shape.push_back(static_cast<Index>(dims[static_cast<std::size_t>(axis)]));
    type = owned(lock, H5Tget_super(type.get()), "cannot read the elements of an array type");
  }
  return true;
}

/// h5py's form of complex numbers.
bool is_complex(const std::vector<DType::Member>& members) {
  return members.size() == 2 && members[0].name == "r" && members[1].name == "i" &&
         members[0].type.kind == Kind::float_ && members[0].type == members[1].type &&
         members[0].shape.rank() + members[1].shape.rank() == 0 && members[0].byte_order == members[1].byte_order;
}

/// Members in the order they lie in; nothing if that is not the order they have, or one cannot be told.
std::optional<ElementType> compound_type(const Lock& lock, hid_t type, int depth) {
  if (depth > kMaxNesting) return std::nullopt;
  std::vector<DType::Member> members;
  std::size_t end = 0;
  const auto add_gap = [&](std::size_t next) {
    if (next > end) members.push_back({"", DType(Kind::raw, next - end), {}, kNativeOrder});
  };
  const int n_members = checked(lock, H5Tget_nmembers(type), "cannot read a compound type");
  for (int i = 0; i < n_members; ++i) {
    const auto at = static_cast<unsigned>(i);
    const std::size_t offset = H5Tget_member_offset(type, at);
    if (offset < end) return std::nullopt;
    add_gap(offset);
    Hid own = owned(lock, H5Tget_member_type(type, at), "cannot read a member type");
    end = offset + H5Tget_size(own.get());
    DType::Member member;
    if (!enter_arrays(lock, own, member.shape)) return std::nullopt;
    ElementType element = element_type(lock, own.get(), depth + 1);
    if (element.dtype.kind == Kind::other) return std::nullopt;
    member.name = take_text(H5Tget_member_name(type, at));
    member.type = std::move(element.dtype);
    member.byte_order = element.byte_order;
    if (member.name.empty()) return std::nullopt;
    members.push_back(std::move(member));
  }
  add_gap(H5Tget_size(type));
  if (members.empty()) return std::nullopt;
  if (is_complex(members)) return ElementType{DType(Kind::complex_, H5Tget_size(type)), members[0].byte_order};
  return ElementType{structured_type(std::move(members)), kNativeOrder};
}

DType text_type(hid_t type) {
  DType dtype(Kind::text, H5Tget_size(type));
  const auto add = [&](bool is_so, const char* word) {
    if (is_so) dtype.other.append(dtype.other.empty() ? "" : " ").append(word);
  };
  add(H5Tget_cset(type) == H5T_CSET_UTF8, kUtf8);
  add(H5Tget_strpad(type) == H5T_STR_SPACEPAD, kSpaces);
  add(H5Tget_strpad(type) == H5T_STR_NULLTERM && dtype.bytes > 1, kTerminated);
  add(H5Tget_strpad(type) == H5T_STR_NULLPAD && dtype.bytes == 1, kPadded);
  return dtype;
}

ElementType element_type(const Lock& lock, hid_t type, int depth) {
  ElementType element;
  element.byte_order = byte_order(type).value_or(kNativeOrder);
  DType& dtype = element.dtype;
  dtype.bytes = H5Tget_size(type);
  dtype.refers = refers_elsewhere(lock, type);
  std::optional<ElementType> found;
  const H5T_class_t type_class = H5Tget_class(type);
  if (type_class == H5T_VLEN) classify_list(lock, type, element);
  if (type_class == H5T_STRING && dtype.refers) dtype.kind = Kind::string;
  switch (dtype.refers ? H5T_NO_CLASS : type_class) {
    case H5T_INTEGER:
      if (is_integer(type)) dtype.kind = H5Tget_sign(type) == H5T_SGN_2 ? Kind::int_ : Kind::uint;
      break;
    case H5T_FLOAT:
      if (is_ieee(type)) dtype.kind = Kind::float_;
      break;
    case H5T_ENUM:
      if (is_h5py_bool(type))
        dtype.kind = Kind::boolean;
      else
        found = enum_type(lock, type);
      break;
    case H5T_STRING:
      dtype = text_type(type);
      break;
    case H5T_OPAQUE:
      dtype.kind = Kind::raw;
      dtype.other = take_text(H5Tget_tag(type));
      break;
    case H5T_COMPOUND:
      found = compound_type(lock, type, depth);
      break;
    default:
      break;
  }
  if (found) return std::move(*found);
  if (dtype.kind == Kind::other) dtype.other = describe_type(lock, type);
  return element;
}

Hid make_enum(const Lock& lock, const DType& dtype, ByteOrder byte_order) {
  const std::string what = fmt::format("cannot make the type {}", dtype.name());
  DType plain = dtype;
  plain.names.clear();
  const Hid base = make_type(lock, plain, byte_order);
  Hid type = owned(lock, H5Tenum_create(base.get()), what, Code::internal);
  for (const DType::Name& name : dtype.names) {
    std::array<std::byte, 8> bytes{};
    for (std::size_t b = 0; b < dtype.bytes; ++b)
      bytes[b] = static_cast<std::byte>(static_cast<std::uint64_t>(name.value) >> (8 * b));
    if (byte_order != ByteOrder::little) swap_words(dtype.bytes, MutableByteView(bytes.data(), dtype.bytes));
    checked(lock, H5Tenum_insert(type.get(), name.name.c_str(), bytes.data()), what, Code::unsupported);
  }
  return type;
}

Hid make_compound(const Lock& lock, const DType& dtype) {
  const std::string what = fmt::format("cannot make the type {}", dtype.name());
  Hid type = owned(lock, H5Tcreate(H5T_COMPOUND, dtype.bytes), what, Code::internal);
  std::size_t offset = 0;
  for (const DType::Member& member : dtype.members) {
    if (!member.name.empty()) {
      Hid own = make_type(lock, member.type, member.byte_order);
      if (member.shape.rank() > 0) {
        std::array<hsize_t, H5S_MAX_RANK> dims{};
        std::transform(member.shape.begin(), member.shape.end(), dims.begin(),
                       [](Index n) { return static_cast<hsize_t>(n); });
        own = owned(lock, H5Tarray_create2(own.get(), static_cast<unsigned>(member.shape.rank()), dims.data()), what,
                    Code::unsupported);
      }
      checked(lock, H5Tinsert(type.get(), member.name.c_str(), offset, own.get()), what, Code::unsupported);
    }
    offset += member.bytes();
  }
  return type;
}

}  // namespace

std::string describe_type(const Lock& lock, hid_t type) {
  switch (H5Tget_class(type)) {
    case H5T_INTEGER:
      return fmt::format("{}-bit integer in {} bytes", H5Tget_precision(type), H5Tget_size(type));
    case H5T_FLOAT:
      return describe_float(type);
    case H5T_STRING:
      if (H5Tis_variable_str(type) > 0) return "variable-length string";
      return fmt::format("string of {} bytes", H5Tget_size(type));
    case H5T_BITFIELD:
      return fmt::format("bitfield of {} bits", H5Tget_precision(type));
    case H5T_OPAQUE:
      return fmt::format("opaque of {} bytes", H5Tget_size(type));
    case H5T_COMPOUND:
      return fmt::format("compound of {} members", H5Tget_nmembers(type));
    case H5T_REFERENCE:
      return H5Tequal(type, H5T_STD_REF_OBJ) > 0 ? "object reference" : "region reference";
    case H5T_ENUM:
      return fmt::format("enum of {} members", H5Tget_nmembers(type));
    case H5T_TIME:
      return "time";
    case H5T_VLEN:
    case H5T_ARRAY: {
      const Hid base(H5Tget_super(type));
      const std::string of = base ? describe_type(lock, base.get()) : "unknown type";
      return (H5Tget_class(type) == H5T_VLEN ? "variable-length list of " : "array of ") + of;
    }
    default:
      return "unknown type";
  }
}

bool has_type(const DType& dtype, bool netcdf) {
  switch (dtype.kind) {
    case Kind::boolean:
      return !netcdf;
    case Kind::int_:
    case Kind::uint:
      return true;
    case Kind::float_:
      return !netcdf || dtype.bytes > 2;
    case Kind::complex_:
      return !netcdf || dtype.bytes > 4;
    case Kind::text:
      return !netcdf || dtype.bytes == 1;
    case Kind::raw:
      return dtype.other.size() < kMaxTag;
    case Kind::structured:
      return std::all_of(dtype.members.begin(), dtype.members.end(), [&](const DType::Member& member) {
        return member.name.empty() || has_type(member.type, netcdf);
      });
    default:
      return false;
  }
}

bool needs_name(const DType& dtype) {
  return !dtype.names.empty() || dtype.kind == Kind::complex_ || dtype.kind == Kind::raw ||
         dtype.kind == Kind::structured;
}

ElementType element_type(const Lock& lock, hid_t type) {
  return element_type(lock, type, 0);
}

Hid make_type(const Lock& lock, const DType& dtype, ByteOrder byte_order) {
  const bool big = byte_order == ByteOrder::big;
  const std::string what = fmt::format("cannot make the type {}", dtype.name());
  const auto copy = [&](hid_t of) { return owned(lock, H5Tcopy(of), what, Code::internal); };
  if (!dtype.names.empty()) return make_enum(lock, dtype, byte_order);
  switch (dtype.kind) {
    case Kind::boolean: {
      Hid type = owned(lock, H5Tenum_create(H5T_STD_I8LE), what, Code::internal);
      const std::int8_t no = 0, yes = 1;
      checked(lock, H5Tenum_insert(type.get(), "FALSE", &no), what, Code::internal);
      checked(lock, H5Tenum_insert(type.get(), "TRUE", &yes), what, Code::internal);
      return type;
    }
    case Kind::int_:
      if (dtype.bytes == 1) return copy(big ? H5T_STD_I8BE : H5T_STD_I8LE);
      if (dtype.bytes == 2) return copy(big ? H5T_STD_I16BE : H5T_STD_I16LE);
      if (dtype.bytes == 4) return copy(big ? H5T_STD_I32BE : H5T_STD_I32LE);
      if (dtype.bytes == 8) return copy(big ? H5T_STD_I64BE : H5T_STD_I64LE);
      break;
    case Kind::uint:
      if (dtype.bytes == 1) return copy(big ? H5T_STD_U8BE : H5T_STD_U8LE);
      if (dtype.bytes == 2) return copy(big ? H5T_STD_U16BE : H5T_STD_U16LE);
      if (dtype.bytes == 4) return copy(big ? H5T_STD_U32BE : H5T_STD_U32LE);
      if (dtype.bytes == 8) return copy(big ? H5T_STD_U64BE : H5T_STD_U64LE);
      break;
    case Kind::float_:
      if (dtype.bytes == 4) return copy(big ? H5T_IEEE_F32BE : H5T_IEEE_F32LE);
      if (dtype.bytes == 8) return copy(big ? H5T_IEEE_F64BE : H5T_IEEE_F64LE);
      if (dtype.bytes == 2) {
        Hid type = copy(big ? H5T_IEEE_F32BE : H5T_IEEE_F32LE);
        // Fields first: the size may not cut through them.
        checked(lock, H5Tset_fields(type.get(), 15, 10, 5, 0, 10), what, Code::internal);
        checked(lock, H5Tset_size(type.get(), 2), what, Code::internal);
        checked(lock, H5Tset_ebias(type.get(), 15), what, Code::internal);
        return type;
      }
      break;
    case Kind::complex_: {
      const DType part(Kind::float_, dtype.bytes / 2);
      return make_compound(lock, structured_type({{"r", part, {}, byte_order}, {"i", part, {}, byte_order}}));
    }
    case Kind::text: {
      const auto is = [&](const char* word) { return dtype.other.find(word) != std::string::npos; };
      const bool is_terminated = dtype.bytes == 1 ? !is(kPadded) : is(kTerminated);
      const H5T_str_t padding = is(kSpaces) ? H5T_STR_SPACEPAD : is_terminated ? H5T_STR_NULLTERM : H5T_STR_NULLPAD;
      return make_string_type(lock, dtype.bytes, padding, is(kUtf8));
    }
    case Kind::raw: {
      Hid type = owned(lock, H5Tcreate(H5T_OPAQUE, dtype.bytes), what, Code::internal);
      checked(lock, H5Tset_tag(type.get(), dtype.other.c_str()), what, Code::internal);
      return type;
    }
    case Kind::structured:
      return make_compound(lock, dtype);
    case Kind::string:
      return make_string_type(lock, 0, H5T_STR_NULLTERM, true);
    case Kind::list: {
      const Hid item = make_type(lock, dtype.item(), byte_order);
      return owned(lock, H5Tvlen_create(item.get()), what, Code::internal);
    }
    default:
      break;
  }
  throw Error(Code::unsupported, fmt::format("HDF5 files of ours have no type {}", dtype.name()));
}

Hid make_string_type(const Lock& lock, std::size_t bytes, H5T_str_t padding, bool utf8) {
  Hid type = owned(lock, H5Tcopy(H5T_C_S1), "cannot make a string type", Code::internal);
  checked(lock, H5Tset_size(type.get(), bytes == 0 ? H5T_VARIABLE : bytes), "cannot size a string type",
          Code::internal);
  checked(lock, H5Tset_strpad(type.get(), padding), "cannot pad a string type", Code::internal);
  checked(lock, H5Tset_cset(type.get(), utf8 ? H5T_CSET_UTF8 : H5T_CSET_ASCII), "cannot set a character set",
          Code::internal);
  return type;
}

Hid transient_copy(const Lock& lock, hid_t type) {
  return owned(lock, H5Tcopy(type), "cannot copy a datatype");
}

}  // namespace chunkwise::hdf5
