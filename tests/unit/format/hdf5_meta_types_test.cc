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
  CHECK(words_of(Hid(H5Tcreate(H5T_OPAQUE, 3))) == "opaque of 3 bytes");

  const Hid color(H5Tenum_create(H5T_STD_I8LE));
  const std::int8_t zero = 0, one = 1;
  H5Tenum_insert(color.get(), "RED", &zero);
  H5Tenum_insert(color.get(), "TRUE", &one);
  CHECK(words_of(color) == "enum of 2 members");
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
