#include "format/hdf5/types.h"

#include <fmt/format.h>

#include <optional>

namespace chunkwise::hdf5 {
namespace {

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
  if (!item.dtype.is_number()) return;
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

ElementType element_type(const Lock& lock, hid_t type) {
  ElementType element;
  element.byte_order = byte_order(type).value_or(kNativeOrder);
  element.dtype.bytes = H5Tget_size(type);
  element.dtype.refers = refers_elsewhere(lock, type);
  DType::Kind& kind = element.dtype.kind;
  switch (H5Tget_class(type)) {
    case H5T_INTEGER:
      if (is_integer(type)) kind = H5Tget_sign(type) == H5T_SGN_2 ? DType::Kind::int_ : DType::Kind::uint;
      break;
    case H5T_FLOAT:
      if (is_ieee(type)) kind = DType::Kind::float_;
      break;
    case H5T_ENUM:
      if (is_h5py_bool(type)) kind = DType::Kind::boolean;
      break;
    case H5T_STRING:
      kind = element.dtype.refers ? DType::Kind::string : DType::Kind::text;
      break;
    case H5T_VLEN:
      classify_list(lock, type, element);
      break;
    default:
      break;
  }
  if (kind == DType::Kind::other) element.dtype.other = describe_type(lock, type);
  return element;
}

Hid make_type(const Lock& lock, const DType& dtype, ByteOrder byte_order) {
  const bool big = byte_order == ByteOrder::big;
  const std::string what = "cannot make the type " + dtype.name();
  const auto copy = [&](hid_t of) { return owned(lock, H5Tcopy(of), what, Code::internal); };
  switch (dtype.kind) {
    case DType::Kind::boolean: {
      Hid type = owned(lock, H5Tenum_create(H5T_STD_I8LE), what, Code::internal);
      const std::int8_t no = 0, yes = 1;
      checked(lock, H5Tenum_insert(type.get(), "FALSE", &no), what, Code::internal);
      checked(lock, H5Tenum_insert(type.get(), "TRUE", &yes), what, Code::internal);
      return type;
    }
    case DType::Kind::int_:
      if (dtype.bytes == 1) return copy(big ? H5T_STD_I8BE : H5T_STD_I8LE);
      if (dtype.bytes == 2) return copy(big ? H5T_STD_I16BE : H5T_STD_I16LE);
      if (dtype.bytes == 4) return copy(big ? H5T_STD_I32BE : H5T_STD_I32LE);
      if (dtype.bytes == 8) return copy(big ? H5T_STD_I64BE : H5T_STD_I64LE);
      break;
    case DType::Kind::uint:
      if (dtype.bytes == 1) return copy(big ? H5T_STD_U8BE : H5T_STD_U8LE);
      if (dtype.bytes == 2) return copy(big ? H5T_STD_U16BE : H5T_STD_U16LE);
      if (dtype.bytes == 4) return copy(big ? H5T_STD_U32BE : H5T_STD_U32LE);
      if (dtype.bytes == 8) return copy(big ? H5T_STD_U64BE : H5T_STD_U64LE);
      break;
    case DType::Kind::float_:
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
    case DType::Kind::text:
      return make_string_type(lock, dtype.bytes, dtype.bytes == 1 ? H5T_STR_NULLTERM : H5T_STR_NULLPAD, false);
    case DType::Kind::string:
      return make_string_type(lock, 0, H5T_STR_NULLTERM, true);
    case DType::Kind::list: {
      const Hid item = make_type(lock, dtype.item(), byte_order);
      return owned(lock, H5Tvlen_create(item.get()), what, Code::internal);
    }
    case DType::Kind::other:
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
