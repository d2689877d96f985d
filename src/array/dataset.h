// A dataset opened for reading, or being written.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "array/hierarchy.h"
#include "array/source.h"

namespace chunkwise {

class Reader {
 public:
  virtual ~Reader() = default;
  virtual const Hierarchy& tree() const = 0;
  /// `path` of an array of tree(). Collects chunk addresses where the format has them.
  virtual std::unique_ptr<ArraySource> open_array(const std::string& path) const = 0;
};

/// Created with the target hierarchy: groups, attributes and empty arrays already stand when it returns.
class Writer {
 public:
  virtual ~Writer() = default;
  /// `path` of an array of the hierarchy. Sinks must die before finish().
  virtual std::unique_ptr<ArraySink> open_array(const std::string& path) = 0;
  /// Writes what is still held back (consolidated metadata, indexes) and makes all of it durable.
  virtual void finish() = 0;
};

/// Something the target format cannot say.
struct Loss {
  std::string object;  // "/T" or "/T@attr"
  std::string what;    // "attribute of type compound cannot be stored in Zarr"
};

/// What translating to a target format did or could not do.
struct AdaptReport {
  std::vector<std::string> notes;  // harmless, worth telling: "/T: shuffle,deflate:1 becomes blosc:zstd:1:shuffle"
  std::vector<Loss> losses;        // refused unless the user allows loss
};

}  // namespace chunkwise
