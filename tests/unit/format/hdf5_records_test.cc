#include "format/hdf5/records.h"

#include <random>

#include "../base/throws_code.h"
#include "array/tree_hash.h"
#include "format/hdf5/format.h"
#include "format/hdf5/reader.h"
#include "format/hdf5/walk.h"
#include "hdf5_fixture.h"

namespace chunkwise::hdf5 {
namespace {

using namespace testing;

void put_attribute(const Lock& lock, hid_t object, const char* name, hid_t type, const void* value) {
  const Hid space = owned(lock, H5Screate(H5S_SCALAR), "space");
  const Hid attribute = owned(lock, H5Acreate2(object, name, type, space.get(), H5P_DEFAULT, H5P_DEFAULT), name);
  if (value != nullptr) checked(lock, H5Awrite(attribute.get(), type, value), name);
}

/// Something of every kind of record: groups, all kinds of links, a named type, a null space, filters with and without
/// parameters, attributes of all kinds.
void make_file(const std::string& path) {
  const Lock lock;
  const Hid file = owned(lock, H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), "create");
  Recipe recipe;
  recipe.shape = {50, 40};
  recipe.max_shape = {kUnlimited, 40};
  recipe.chunk = {7, 9};
  recipe.codecs = "shuffle,deflate:3";
  const Hid dataset = create_dataset(lock, file.get(), recipe);
  write_box(lock, dataset.get(), recipe.shape, whole(recipe.shape));
  const double number = -2.5;
  put_attribute(lock, dataset.get(), "number", H5T_NATIVE_DOUBLE, &number);
  const Hid text = owned(lock, H5Tcopy(H5T_C_S1), "type");
  checked(lock, H5Tset_size(text.get(), 5), "type");
  put_attribute(lock, dataset.get(), "text", text.get(), "hello");
  const Hid pair = owned(lock, H5Tcreate(H5T_COMPOUND, 8), "type");
  checked(lock, H5Tinsert(pair.get(), "a", 0, H5T_STD_I32LE), "type");
  checked(lock, H5Tinsert(pair.get(), "b", 4, H5T_STD_I32LE), "type");
  checked(lock, H5Tcommit2(file.get(), "pair", pair.get(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), "type");
  const Hid group = owned(lock, H5Gcreate2(file.get(), "g", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), "group");
  const std::int32_t two[2] = {1, 2};
  put_attribute(lock, group.get(), "pair", pair.get(), two);
  const Hid words = owned(lock, H5Tcopy(H5T_C_S1), "type");
  checked(lock, H5Tset_size(words.get(), H5T_VARIABLE), "type");
  const Hid dcpl = owned(lock, H5Pcreate(H5P_DATASET_CREATE), "dcpl");
  const char* const fill = "n/a";
  checked(lock, H5Pset_fill_value(dcpl.get(), words.get(), &fill), "fill");
  const Hid scalar = owned(lock, H5Screate(H5S_SCALAR), "space");
  Hid(H5Dcreate2(group.get(), "words", words.get(), scalar.get(), H5P_DEFAULT, dcpl.get(), H5P_DEFAULT));
  const Hid list = owned(lock, H5Tvlen_create(H5T_STD_I16BE), "type");
  Hid(H5Dcreate2(group.get(), "list", list.get(), scalar.get(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  const Hid null_space = owned(lock, H5Screate(H5S_NULL), "space");
  Hid(H5Dcreate2(group.get(), "nothing", H5T_STD_I16BE, null_space.get(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  checked(lock, H5Lcreate_hard(file.get(), "T", group.get(), "hard", H5P_DEFAULT, H5P_DEFAULT), "link");
  checked(lock, H5Lcreate_soft("/g/none", group.get(), "soft", H5P_DEFAULT, H5P_DEFAULT), "link");
  checked(lock, H5Lcreate_external("b.h5", "/x", group.get(), "external", H5P_DEFAULT, H5P_DEFAULT), "link");
}

FileRecords walk_here(const std::string& path) {
  const Lock lock;
  return walk(lock, *File::open(path));
}

TEST_CASE("Records that went through another process make the same tree", "[hdf5]") {
  const ScratchDirectory scratch;
  const std::string made = scratch / "a.h5";
  make_file(made);
  for (const std::string& path : {made, std::string(CHUNKWISE_SOURCE_DIR "/data/sample.nc")}) {
    const FileRecords records = walk_here(path);
    const Hierarchy here = to_tree(nullptr, records);
    CHECK(pack(unpack_records(pack(records))) == pack(records));
    CHECK(tree_hash(describe(path)) == tree_hash(here));
    const auto reader = open(path);
    CHECK(tree_hash(reader->tree()) == tree_hash(here));
    for (std::size_t i = 0; i < here.arrays.size(); ++i) {
      // What is not part of the hash.
      CHECK(reader->tree().arrays[i].meta.codecs == here.arrays[i].meta.codecs);
      CHECK(reader->tree().arrays[i].order == here.arrays[i].order);
    }
  }
}

TEST_CASE("Damaged records are refused, or are records", "[hdf5]") {
  const ScratchDirectory scratch;
  const std::string path = scratch / "a.h5";
  make_file(path);
  const std::string packed = pack(walk_here(path));
  for (std::size_t n = 0; n < packed.size(); ++n)
    REQUIRE_ERROR(unpack_records(std::string_view(packed).substr(0, n)), Code::corrupt);
  REQUIRE_ERROR(unpack_records(packed + "x"), Code::corrupt, "cannot be");
  std::mt19937 random(7);
  for (int i = 0; i < 20'000; ++i) {
    std::string damaged = packed;
    for (int n = 0; n < 1 + i % 3; ++n) damaged[random() % damaged.size()] = static_cast<char>(random());
    try {
      to_tree(nullptr, unpack_records(damaged));
    } catch (const Error& error) {
      CHECK((error.code() == Code::corrupt || error.code() == Code::unsupported));
    }
  }
}

TEST_CASE("Who only wants the tree does not keep the file open", "[hdf5]") {
  const ScratchDirectory scratch;
  const std::string path = scratch / "a.h5";
  make_file(path);
  const Hierarchy tree = describe(path);
  const Lock lock;
  // The library refuses to write to a file that this process reads.
  const Hid file(H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT));
  CHECK(file);
  CHECK(tree.arrays.size() == 4);
}

}  // namespace
}  // namespace chunkwise::hdf5
