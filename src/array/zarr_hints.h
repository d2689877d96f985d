// Hints: what a Zarr store remembers of a dataset that JSON and the Zarr model cannot say. Grammar: docs/zarr-hints.md.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "array/hierarchy.h"
#include "array/zarr_tree.h"
#include "base/json_fwd.h"

namespace chunkwise {

/// The hints found in a store. Advice only: whatever contradicts the store's present content is ignored.
class HintsRead {
 public:
  HintsRead();
  /// `document`: the hints object; anything that is not one of a known version counts as no hints. Keeps a copy.
  explicit HintsRead(const Json& document);
  HintsRead(HintsRead&&) noexcept;
  HintsRead& operator=(HintsRead&&) noexcept;
  ~HintsRead();

  /// The form of texts that have no hint of their own.
  const AttributeValue::TextForm& text_form() const { return text_form_; }
  /// Hints of a node's attributes; null if none. `path`: of the node, "/" also for a store that is one array.
  const Json& attributes(const std::string& path) const;
  /// What the type says beyond its elements, maximum extents, storage and codecs of the source.
  void apply(const std::string& path, ArrayMeta& meta, ZarrArray& native) const;
  const Json* fill(const std::string& path) const;
  /// Dimension names that the store itself could not hold; nothing if none or of another rank.
  std::optional<std::vector<std::string>> dims(const std::string& path, int rank) const;
  /// Named types, dimensions of groups, order of nodes, source format. To be called on a complete tree, before
  /// collect_dimensions.
  void apply(Hierarchy& tree) const;

 private:
  const Json* member(const std::string& path, std::string_view name) const;
  void apply_dimensions(Hierarchy& tree) const;
  void apply_order(Hierarchy& tree) const;

  std::unique_ptr<const Json> document_;
  std::unordered_map<std::string, const Json*> nodes_;
  AttributeValue::TextForm text_form_;
  std::vector<TypeNode> types_;
};

/// Gathers the hints of a store that is being written.
class HintsWritten {
 public:
  explicit HintsWritten(const Hierarchy& tree);
  ~HintsWritten();

  const AttributeValue::TextForm& text_form() const { return text_form_; }
  /// True if single numbers of one-dimensional attributes are to be written without brackets.
  bool unwraps_single() const { return unwraps_single_; }
  /// A JSON object of attributes, the hints noted. Attributes implied by other metadata are left out.
  Json attributes(const std::string& path, const std::vector<Attribute>& attributes);
  /// Notes one attribute's hint, or one member of a node; null is not noted.
  void attribute(const std::string& path, const std::string& name, const Json& hint);
  bool has_attribute(const std::string& path, const std::string& name) const;
  void member(const std::string& path, const std::string& name, const Json& value);
  /// What the type says beyond its elements, which the metadata tell to be `stored`; maximum extents, storage and
  /// codecs that Zarr has no word for.
  void array(const std::string& path, const ArrayNode& node, const DType& stored);
  /// The hints object, or null if the store says everything itself.
  Json document();

 private:
  struct Node;
  const Hierarchy& tree_;
  std::map<std::string, std::unique_ptr<Node>> nodes_;
  AttributeValue::TextForm text_form_;
  bool unwraps_single_ = false;
  std::string source_;
};

/// The format the data came from first, "" if it was Zarr.
std::string source_format(const Hierarchy& tree);

}  // namespace chunkwise
