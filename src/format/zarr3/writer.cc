#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "array/json_attributes.h"
#include "array/json_fields.h"
#include "array/object_chunks.h"
#include "array/zarr_adapt.h"
#include "array/zarr_hints.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/json.h"
#include "format/zarr3/format.h"
#include "format/zarr3/mask.h"
#include "format/zarr3/metadata.h"
#include "format/zarr3/types.h"
#include "store/open_store.h"
#include "store/store.h"

namespace chunkwise::zarr3 {
namespace {

constexpr int kIndent = 2;

struct Node {
  std::string path;  // relative; "" is the root
  Json document;
  bool is_group = false;
};

// zarr-python's order of consolidated metadata: by depth, then by name without regard to case.
bool consolidated_before(const Node& a, const Node& b) {
  const auto depth = [](const Node& node) { return std::count(node.path.begin(), node.path.end(), '/'); };
  const auto fold = [](std::string text) {
    for (char& c : text) {
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    return text;
  };
  if (depth(a) != depth(b)) return depth(a) < depth(b);
  const std::string folded_a = fold(a.path);
  const std::string folded_b = fold(b.path);
  return folded_a != folded_b ? folded_a < folded_b : a.path < b.path;
}

class TreeWriter {
 public:
  TreeWriter(std::shared_ptr<Store> store, const Hierarchy& tree)
      : store_(std::move(store)), tree_(tree), hints_(tree), alone_(is_single_array(tree)) {}

  std::unique_ptr<Writer> write(const EarlierWork* earlier) {
    if (!alone_) {
      for (const GroupNode& group : tree_.groups) {
        Json attributes = hints_.attributes(group.path, group.attributes);
        nodes_.push_back({group.path.substr(1), print_group(std::move(attributes)), true});
      }
    }
    for (const ArrayNode& array : tree_.arrays) add_array(array);

    std::sort(nodes_.begin(), nodes_.end(), [](const Node& a, const Node& b) {
      if (a.path.empty() != b.path.empty()) return a.path.empty();
      return consolidated_before(a, b);
    });
    Json hints = hints_.document();
    std::vector<HeldObject> held;
    for (const Node& node : nodes_) {
      if (node.path.empty() || (earlier != nullptr && earlier->shares_target)) continue;
      store_->write(node.path + "/zarr.json", as_bytes(dump_json(node.document, kIndent)));
    }
    CHUNKWISE_CHECK(!nodes_.empty() && nodes_.front().path.empty());
    Json root = nodes_.front().document;
    if (alone_) {
      if (!hints.is_null()) {
        hints["must_understand"] = false;
        root[kArrayHintsMember] = std::move(hints);
      }
    } else {
      root = with_consolidated(root, std::move(hints));
    }
    held.emplace_back("zarr.json", dump_json(root, kIndent));
    return make_object_writer(store_, tree_, std::move(keys_), std::move(held), earlier);
  }

 private:
  void add_array(const ArrayNode& array) {
    const ArrayMeta& meta = array.meta;
    const std::string node = node_key(tree_, meta.path);
    const std::string hint_path = "/" + node;
    const ZarrArray native = zarr_native_or_default(array);
    Json attributes = hints_.attributes(hint_path, array.attributes);
    write_mask(hint_path, array, attributes);
    DType stored = parse_type(print_type(meta.dtype)).dtype;
    if (const auto order = common_byte_order(meta.dtype)) set_member_order(stored, *order);
    hints_.array(hint_path, array, stored);
    if (meta.fill.empty()) hints_.member(hint_path, "fill", Json(nullptr));
    nodes_.push_back({node, print_array(meta, native, std::move(attributes)), false});
    ChunkKeys keys;
    keys.prefix = node.empty() ? "" : node + "/";
    keys.marked = !native.v2_keys;
    keys.separator = native.separator != 0 ? native.separator : native.v2_keys ? '.' : '/';
    keys_[meta.path] = keys;
  }

  void write_mask(const std::string& hint_path, const ArrayNode& array, Json& attributes) {
    const Attribute* mask = find_attribute(array.attributes, "_FillValue");
    if (mask == nullptr) return;
    const auto* spelling = dynamic_cast<const JsonSpelling*>(mask->native.get());
    if (tree_.format == "zarr3" && spelling != nullptr && same_value(spelling->value, mask->value)) {
      attributes["_FillValue"] = parse_json(spelling->json);
      if (hints_.has_attribute(hint_path, mask->name)) return;
    } else {
      attributes["_FillValue"] = encode_mask(attributes["_FillValue"], array.meta.dtype.kind);
    }
    // Without a hint it reads in the array's type, not in JSON's.
    if (mask->value.kind != AttributeValue::Kind::numbers) return;
    if (!same_value(in_array_type(mask->value, array.meta.dtype), mask->value)) {
      hints_.attribute(hint_path, mask->name, Json(type_hint(mask->value)));
    }
  }

  Json with_consolidated(const Json& root, Json hints) const {
    Json empty = Json::object();
    empty["kind"] = "inline";
    empty["must_understand"] = false;
    Json consolidated = empty;
    empty["metadata"] = Json::object();
    Json metadata = Json::object();
    for (const Node& node : nodes_) {
      if (node.path.empty()) continue;
      // zarr-python expects each group to say that its own members are known.
      append_member(metadata, node.path, node.is_group ? with_member(node.document, empty) : node.document);
    }
    consolidated["metadata"] = std::move(metadata);
    if (!hints.is_null()) consolidated[kGroupHintsMember] = std::move(hints);
    return with_member(root, std::move(consolidated));
  }

  static Json with_member(const Json& group, Json consolidated) {
    Json document = Json::object();
    for (const auto& [name, value] : group.get_ref<const Json::object_t&>()) {
      if (name == "node_type") append_member(document, "consolidated_metadata", consolidated);
      append_member(document, name, value);
    }
    return document;
  }

  std::shared_ptr<Store> store_;
  const Hierarchy& tree_;
  HintsWritten hints_;
  bool alone_;
  std::vector<Node> nodes_;
  std::map<std::string, ChunkKeys> keys_;
};

}  // namespace

std::unique_ptr<Writer> create(const std::string& path, const Hierarchy& tree) {
  check(tree);
  return TreeWriter(create_store(path), tree).write(nullptr);
}

std::unique_ptr<Writer> resume(const std::string& path, const Hierarchy& tree, const EarlierWork& earlier) {
  check(tree);
  // Documents are written anew, chunks stay.
  return TreeWriter(create_store(path), tree).write(&earlier);
}

}  // namespace chunkwise::zarr3
