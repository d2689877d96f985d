// A codec by name and parameters, as a chain in metadata or on a command line names it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace chunkwise {

/// Value type. `name` is canonical (see codec/registry.h); a filter nobody here can decode keeps its own name, such as
/// "hdf5-32013", with its parameters kept for a chunk-wise copy.
struct CodecSpec {
  using Value = std::variant<std::int64_t, std::string, std::vector<std::int64_t>>;
  std::string name;
  std::map<std::string, Value> params;

  /// The parameter as an integer, or `otherwise`. Throws Error{corrupt} if it is not an integer.
  std::int64_t integer(const std::string& key, std::int64_t otherwise) const;
  std::string text(const std::string& key, const std::string& otherwise) const;

  friend bool operator==(const CodecSpec&, const CodecSpec&) = default;
};

/// In the order of encoding.
using CodecSpecs = std::vector<CodecSpec>;

/// "shuffle,deflate:1", "none"; what the command line accepts and reports print.
std::string to_string(const CodecSpecs& specs);

}  // namespace chunkwise
