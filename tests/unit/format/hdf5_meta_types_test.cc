#include <catch2/catch.hpp>

#include <cstring>
#include <vector>

#include "format/hdf5/types.h"

using namespace chunkwise;
using namespace chunkwise::hdf5;

TEST_CASE("every number type survives the way to HDF5 and back") {
  const Lock lock;
  std::vector<DType> dtypes = {{DType::Kind::boolean, 1, {}}};
  for (const std::size_t bytes : {1, 2, 4, 8}) {
    dtypes.push_back({DType::Kind::int_, bytes, {}});
    dtypes.push_back({DType::Kind::uint, bytes, {}});
    if (bytes > 1) dtypes.push_back({DType::Kind::float_, bytes, {}});
  }
  for (const DType& dtype : dtypes)
    for (const ByteOrder order : {ByteOrder::little, ByteOrder::big}) {
      const Hid type = make_type(lock, dtype, order);
      const ElementType element = element_type(lock, type.get());
      INFO(dtype.name());
      CHECK(element.dtype == dtype);
      if (dtype.bytes > 1) CHECK(element.byte_order == order);
      CHECK(H5Tget_size(type.get()) == dtype.bytes);
    }
}

TEST_CASE("half precision is IEEE's binary16") {
  const Lock lock;
  const Hid type = make_type(lock, {DType::Kind::float_, 2, {}}, ByteOrder::little);
  const std::uint16_t halves[] = {0x3c00, 0x7bff, 0x0001, 0xc000};
  float floats[4] = {};
  for (int i = 0; i < 4; ++i) {
    unsigned char buffer[4] = {};
    std::memcpy(buffer, &halves[i], 2);
    REQUIRE(H5Tconvert(type.get(), H5T_NATIVE_FLOAT, 1, buffer, nullptr, H5P_DEFAULT) >= 0);
    std::memcpy(&floats[i], buffer, 4);
  }
  CHECK(floats[0] == 1.0F);
  CHECK(floats[1] == 65504.0F);
  CHECK(floats[2] == 5.9604644775390625e-08F);
  CHECK(floats[3] == -2.0F);
}

TEST_CASE("types that are no numbers of ours are named") {
  const Lock lock;
  const auto words_of = [&](const Hid& type) {
    const ElementType element = element_type(lock, type.get());
    CHECK(element.dtype.kind == DType::Kind::other);
    return element.dtype.name();
  };
  Hid odd(H5Tcopy(H5T_STD_I32LE));
  REQUIRE(H5Tset_precision(odd.get(), 17) >= 0);
  CHECK(words_of(odd) == "17-bit integer in 4 bytes");
  CHECK(words_of(Hid(H5Tcopy(H5T_NATIVE_LDOUBLE))) == "long double of 16 bytes");
  CHECK(words_of(Hid(H5Tvlen_create(H5T_STD_REF_OBJ))) == "variable-length list of object reference");
  CHECK(words_of(Hid(H5Tvlen_create(make_string_type(lock, 0, H5T_STR_NULLTERM, true).get()))) ==
        "variable-length list of variable-length string");
  CHECK(words_of(Hid(H5Tcopy(H5T_STD_REF_OBJ))) == "object reference");
  // Members out of order, and a part that is no number of ours.
  Hid crossed(H5Tcreate(H5T_COMPOUND, 8));
  H5Tinsert(crossed.get(), "b", 4, H5T_STD_I32LE);
  H5Tinsert(crossed.get(), "a", 0, H5T_STD_I32LE);
  CHECK(words_of(crossed) == "compound of 2 members");
  Hid with_odd(H5Tcreate(H5T_COMPOUND, 4));
  H5Tinsert(with_odd.get(), "a", 0, odd.get());
  CHECK(words_of(with_odd) == "compound of 1 members");
}

TEST_CASE("types are made as they were read") {
  const Lock lock;
  const auto again = [&](const Hid& type) {
    const ElementType element = element_type(lock, type.get());
    const Hid made = make_type(lock, element.dtype, element.byte_order);
    CHECK(H5Tequal(type.get(), made.get()) > 0);
    CHECK(element_type(lock, made.get()).dtype == element.dtype);
    return element.dtype;
  };
  for (const hid_t base : {H5T_STD_I8LE, H5T_STD_U8LE, H5T_STD_I16BE, H5T_STD_U16LE, H5T_STD_I32BE, H5T_STD_I64LE}) {
    Hid choice(H5Tenum_create(base));
    const std::int64_t zero = 0, minus_one = -1;
    H5Tenum_insert(choice.get(), "none", &zero);
    H5Tenum_insert(choice.get(), "all", &minus_one);
    const DType dtype = again(choice);
    const auto unused_bits = static_cast<int>(64 - 8 * H5Tget_size(base));
    const bool is_signed = H5Tget_sign(base) == H5T_SGN_2;
    const std::int64_t all = is_signed ? -1 : static_cast<std::int64_t>(~std::uint64_t{0} >> unused_bits);
    CHECK(dtype.names == std::vector<DType::Name>{{"none", 0}, {"all", all}});
    CHECK(dtype.is_number());
  }
  Hid opaque(H5Tcreate(H5T_OPAQUE, 3));
  H5Tset_tag(opaque.get(), "jpeg");
  CHECK(again(opaque) == DType(DType::Kind::raw, 3, "jpeg"));
  for (const H5T_str_t padding : {H5T_STR_NULLTERM, H5T_STR_NULLPAD, H5T_STR_SPACEPAD})
    for (const bool utf8 : {false, true})
      for (const std::size_t bytes : {std::size_t{1}, std::size_t{5}})
        CHECK(again(make_string_type(lock, bytes, padding, utf8)).kind == DType::Kind::text);

  Hid complex(H5Tcreate(H5T_COMPOUND, 16));
  H5Tinsert(complex.get(), "r", 0, H5T_IEEE_F64BE);
  H5Tinsert(complex.get(), "i", 8, H5T_IEEE_F64BE);
  CHECK(again(complex) == DType(DType::Kind::complex_, 16));

  const hsize_t extents[] = {2, 3};
  const Hid list(H5Tarray_create2(H5T_STD_I16BE, 2, extents));
  Hid inner(H5Tcreate(H5T_COMPOUND, 16));
  H5Tinsert(inner.get(), "v", 4, list.get());
  Hid outer(H5Tcreate(H5T_COMPOUND, 48));
  H5Tinsert(outer.get(), "flag", 1, H5T_STD_U8LE);
  H5Tinsert(outer.get(), "part", 8, inner.get());
  H5Tinsert(outer.get(), "number", 24, complex.get());
  const DType dtype = again(outer);
  CHECK(dtype.bytes == 48);
  CHECK(dtype.name() == "compound of 3 members");
  REQUIRE(dtype.members.size() == 6);  // with gaps before "flag" and "part", and at the end
  CHECK(dtype.members[0].name.empty());
  CHECK(dtype.members[3].type.members[1].shape == Shape{2, 3});
  CHECK(dtype.members[3].type.members[1].byte_order == ByteOrder::big);
  CHECK(dtype.members[5].type.bytes == 8);
}

TEST_CASE("strings of fixed length are text") {
  const Lock lock;
  const DType dtype = element_type(lock, make_string_type(lock, 5, H5T_STR_NULLPAD, true).get()).dtype;
  CHECK(dtype.kind == DType::Kind::text);
  CHECK(dtype.bytes == 5);
  CHECK(dtype.name() == "S5");
  CHECK_FALSE(dtype.refers);
}

TEST_CASE("strings of variable length and lists of numbers are elements of any length") {
  const Lock lock;
  const DType text = element_type(lock, make_string_type(lock, 0, H5T_STR_NULLTERM, true).get()).dtype;
  CHECK(text.kind == DType::Kind::string);
  CHECK(text.name() == "string");
  CHECK(text.refers);
  const ElementType list = element_type(lock, Hid(H5Tvlen_create(H5T_STD_I16BE)).get());
  CHECK(list.dtype.kind == DType::Kind::list);
  CHECK(list.dtype.name() == "list of i2");
  CHECK(list.dtype.refers);
  CHECK(list.byte_order == ByteOrder::big);
  CHECK(element_type(lock, make_type(lock, list.dtype, ByteOrder::big).get()).dtype == list.dtype);
}

TEST_CASE("a type refers to other places if any part of it does") {
  const Lock lock;
  const auto refers = [&](const Hid& type) { return element_type(lock, type.get()).dtype.refers; };
  const auto compound_with = [&](const Hid& member) {
    Hid type(H5Tcreate(H5T_COMPOUND, 8 + H5Tget_size(member.get())));
    H5Tinsert(type.get(), "number", 0, H5T_STD_I64LE);
    H5Tinsert(type.get(), "member", 8, member.get());
    return type;
  };
  const hsize_t three = 3;
  const Hid texts = make_string_type(lock, 0, H5T_STR_NULLTERM, true);
  CHECK(refers(texts));
  CHECK(refers(compound_with(texts)));
  CHECK(refers(Hid(H5Tarray_create2(texts.get(), 1, &three))));
  CHECK(refers(compound_with(Hid(H5Tcopy(H5T_STD_REF_DSETREG)))));
  CHECK(refers(Hid(H5Tvlen_create(H5T_STD_I8LE))));
  CHECK_FALSE(refers(compound_with(make_string_type(lock, 4, H5T_STR_SPACEPAD, false))));
}
