// A dataset opened for reading, or being written.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "array/elements.h"
#include "array/hierarchy.h"
#include "array/source.h"

namespace chunkwise {

/// Work that a format does by itself on elements nobody else understands (DType::refers).
struct ElementWork {
  /// What it may hold.
  std::uint64_t memory_bytes = 0;
  /// Which chunks of the target to compare; none: all.
  std::function<bool(const ChunkGrid&, ChunkId)> chosen;
  /// Called after each target chunk: whether it is stored, the bytes of its elements with all they refer to, and those
  /// without.
  std::function<void(bool stored, std::uint64_t moved_bytes, std::uint64_t element_bytes)> done;
  /// Ends the work early, without an error.
  std::stop_token stop;
};

class Reader {
 public:
  virtual ~Reader() = default;
  virtual const Hierarchy& tree() const = 0;
  /// Counts stored chunks where opening only estimated their number (ArrayMeta::count_is_estimate). May take long.
  virtual void count_exactly() {}
  /// Brings what tree() says of stored chunks up to what reading has found out since: some chunks may be missing after
  /// all. Not while others use the tree.
  virtual void take_counts() {}
  /// `path` of an array of tree(). Collects chunk addresses where the format has them.
  virtual std::unique_ptr<ArraySource> open_array(const std::string& path) const = 0;
  /// Elements of any length, within so much memory. Null: they lie in encoded chunks, which everybody can decode.
  virtual std::unique_ptr<ElementSource> open_elements(const std::string& path, std::uint64_t most_bytes) const;
  /// Throws Error{not_found} if elements of array `path` lie in other files than the dataset's own, and one of those is
  /// not there. Reads no elements.
  virtual void find_elements(const std::string& /*path*/) const {}
  /// Compares array `path` with that of a copy, element by element. Throws Error{mismatch}, Error{unsupported} where
  /// the format has no such elements.
  virtual void compare_elements(const std::string& path, const Reader& copy, const ElementWork& work) const;
};

/// Created with the target hierarchy: groups, attributes and empty arrays already stand when it returns.
class Writer {
 public:
  virtual ~Writer() = default;
  /// `path` of an array of the hierarchy. Sinks must die before finish().
  virtual std::unique_ptr<ArraySink> open_array(const std::string& path) = 0;
  /// Elements of any length, within so much memory. Null: they lie in encoded chunks.
  virtual std::unique_ptr<ElementSink> open_elements(const std::string& path, std::uint64_t most_bytes);
  /// Copies array `path` from a reader of the same format. Throws Error{unsupported} where the format has no such
  /// elements.
  virtual void copy_elements(const std::string& path, const Reader& source, const ElementWork& work);
  /// For work that may have to go on in another process: makes everything durable that finished writes of sinks have
  /// stored, and returns what, with the earlier checkpoints' values, a resumed writer needs to find it again. Nothing
  /// where the format cannot resume. Called while sinks write, by one thread at a time. Throws Error{io}.
  virtual std::optional<std::string> checkpoint() { return std::nullopt; }
  /// Writes what is still held back (consolidated metadata, indexes) and makes all of it durable.
  virtual void finish() = 0;
};

/// Calls its argument with what Writer::checkpoint() returned, of every checkpoint, in order. May be called repeatedly.
using CheckpointStates = std::function<void(const std::function<void(ByteView)>&)>;

/// What processes before this one did, for a writer that goes on.
struct EarlierWork {
  CheckpointStates for_each_state;
  /// True if a chunk counts as done; `array` is its number in the hierarchy.
  std::function<bool(std::size_t array, ChunkId)> was_done;
  /// Other processes write other chunks of the same dataset meanwhile: what stands there beside chunks stays untouched.
  bool shares_target = false;
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

/// Takes those named types out of a hierarchy that the target has no place for, of all types their attributes. Where a
/// type is one of numbers or texts, the arrays of it say all that it says, so that a note is enough; others, and
/// attributes, are losses.
void lose_types(Hierarchy& tree, const char* target, const std::function<bool(const DType&)>& can_keep,
                AdaptReport& report);

}  // namespace chunkwise
