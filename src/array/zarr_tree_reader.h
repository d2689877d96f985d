// What reading the tree of a Zarr store is in either version.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "array/hierarchy.h"
#include "array/object_chunks.h"
#include "array/zarr_hints.h"
#include "store/store.h"

namespace chunkwise {

/// For one use of one thread. A version fills `tree_`, and `chunks_` by the paths of the arrays.
class ZarrTreeReader {
 public:
  ZarrTreeReader(std::shared_ptr<Store> store, std::string path) : store_(std::move(store)), path_(std::move(path)) {}
  virtual ~ZarrTreeReader() = default;

  std::unique_ptr<Reader> read() {
    read_tree();
    return make_object_reader(store_, std::move(tree_), std::move(chunks_));
  }

  /// Without a list of the chunks where there are many.
  Hierarchy describe() {
    samples_ = true;
    read_tree();
    return std::move(tree_);
  }

 protected:
  virtual void read_tree() = 0;

  std::shared_ptr<Store> store_;
  std::string path_;
  bool samples_ = false;
  HintsRead hints_;
  Hierarchy tree_;
  std::map<std::string, ObjectChunks> chunks_;
};

}  // namespace chunkwise
