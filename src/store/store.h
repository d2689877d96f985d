// Bytes by key: a directory tree, later object stores.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"

namespace chunkwise {

/// One readable object (file). Thread-safe; reads are positional.
class Object {
 public:
  virtual ~Object() = default;
  virtual std::uint64_t size_bytes() const = 0;
  /// Fills all of `out`. Throws Error{corrupt} if the range passes the end, Error{io} if the system refuses.
  virtual void read(std::uint64_t offset, MutableByteView out) const = 0;
};

/// An object put together from pieces, in any order and by several threads.
class PieceWriter {
 public:
  virtual ~PieceWriter() = default;
  virtual void write(std::uint64_t offset, ByteView bytes) = 0;
  /// Nothing is written afterwards. Throws Error{io} for what the system tells only now.
  virtual void close() = 0;
};

/// Keys are '/'-separated, relative, without "." and ".." parts; anything else throws Error{corrupt}.
/// Absence is a value; every other failure throws Error{io} naming the key. Thread-safe.
class Store {
 public:
  struct Entry {
    std::string name;        // one path component
    bool is_prefix = false;  // a directory
  };

  virtual ~Store() = default;
  /// Null if there is no such object.
  virtual std::unique_ptr<Object> open(std::string_view key) const = 0;
  /// The whole object; nothing if absent. Throws Error{corrupt} if it is larger than `max_bytes`.
  virtual std::optional<Bytes> read(std::string_view key, std::uint64_t max_bytes) const = 0;
  virtual std::optional<std::uint64_t> size_bytes(std::string_view key) const = 0;
  /// Creates or replaces the object and the prefixes above it. Not durable before sync().
  virtual void write(std::string_view key, ByteView bytes) = 0;
  /// Opens an object to write pieces of it, or makes it, with the prefixes above it. With `most_bytes` it is cut to
  /// these first. Not durable before sync().
  virtual std::unique_ptr<PieceWriter> open_pieces(std::string_view key, std::optional<std::uint64_t> most_bytes) = 0;
  /// Direct children of a prefix ("" is the root), sorted by name; empty if there is none.
  virtual std::vector<Entry> list(std::string_view prefix) const = 0;
  struct SizedEntry {
    std::string_view name;
    bool is_prefix = false;
    std::uint64_t size_bytes = 0;  // of objects
  };
  /// The same in any order, with sizes, without keeping them.
  virtual void list_sizes(std::string_view prefix, const std::function<void(const SizedEntry&)>& found) const = 0;
  /// Makes everything written durable.
  virtual void sync() = 0;
};

/// A directory as a store. The directory need not exist before the first write. Symbolic links are followed only while
/// they stay inside the root; one that leads out of it throws Error{unsupported}. Objects are regular files only.
std::unique_ptr<Store> open_directory_store(const std::string& root);

/// A single local file for positional reads. Throws Error{not_found}, Error{io}.
std::unique_ptr<Object> open_file_object(const std::string& path);

}  // namespace chunkwise
