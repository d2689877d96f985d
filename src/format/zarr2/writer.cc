#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "array/fill_json.h"
#include "array/json_attributes.h"
#include "array/json_fields.h"
#include "array/numpy_type.h"
#include "array/object_chunks.h"
#include "array/scalar.h"
#include "array/zarr_adapt.h"
#include "array/zarr_hints.h"
#include "base/error.h"
#include "base/json.h"
#include "format/zarr2/format.h"
#include "format/zarr2/metadata.h"
#include "store/open_store.h"
#include "store/store.h"

namespace chunkwise::zarr2 {
namespace {

constexpr int kIndent = 4;

class TreeWriter {
 public:
  TreeWriter(std::shared_ptr<Store> store, const Hierarchy& tree)
      : store_(std::move(store)), tree_(tree), hints_(tree), alone_(is_single_array(tree)) {}

  std::unique_ptr<Writer> write(bool shares_target) {
    if (!alone_) {
      for (const GroupNode& group : tree_.groups) add_group(group);
    }
    for (const ArrayNode& array : tree_.arrays) add_array(array);
    add_hints();
    std::vector<HeldObject> held;
    for (auto& [key, document] : documents_) {
      // The root's own documents come last: without them there is no dataset.
      std::string text = dump_json(document, kIndent);
      if (key.find('/') == std::string::npos) {
        held.emplace_back(key, std::move(text));
      } else if (!shares_target) {
        store_->write(key, as_bytes(text));
      }
    }
    if (!alone_) held.emplace_back(".zmetadata", dump_json(consolidated(), kIndent));
    return make_object_writer(store_, tree_, std::move(keys_), std::move(held));
  }

 private:
  void add(const std::string& node, const char* name, Json document) {
    documents_.emplace_back(node.empty() ? name : node + "/" + name, std::move(document));
  }

  void add_group(const GroupNode& group) {
    const std::string node = group.path.substr(1);
    Json document = Json::object();
    document["zarr_format"] = 2;
    add(node, ".zgroup", std::move(document));
    Json attributes = hints_.attributes(group.path, group.attributes);
    if (!attributes.empty()) add(node, ".zattrs", std::move(attributes));
  }

  void add_array(const ArrayNode& array) {
    const ArrayMeta& meta = array.meta;
    const std::string node = node_key(tree_, meta.path);
    const std::string hint_path = "/" + node;
    const ZarrArray native = zarr_native_or_default(array);
    const Json fill = native.fill_json.empty() ? choose_fill(array, native) : parse_json(native.fill_json);
    add(node, ".zarray", print_zarray(meta, native, fill));

    Json attributes = hints_.attributes(hint_path, as_spelled(array.attributes));
    hint_mask(hint_path, array);
    const bool all_named = !meta.dims.empty() && std::none_of(meta.dims.begin(), meta.dims.end(),
                                                              [](const std::string& name) { return name.empty(); });
    if (all_named || (meta.shape.rank() == 0 && native.has_dimension_list)) {
      append_member(attributes, kDimensionsAttribute, meta.dims.empty() ? Json::array() : Json(meta.dims));
    } else if (!meta.dims.empty()) {
      hints_.member(hint_path, "dims", Json(meta.dims));
    }
    if (!attributes.empty()) add(node, ".zattrs", std::move(attributes));

    const DType stored = meta.dtype.is_varying()
                             ? meta.dtype
                             : parse_numpy_type(print_numpy_type(meta.dtype, meta.layout.byte_order)).dtype;
    hints_.array(hint_path, array, stored);
    hint_fill(hint_path, array, native, fill);
    ChunkKeys keys;
    keys.prefix = node.empty() ? "" : node + "/";
    keys.separator = native.separator == 0 ? '.' : native.separator;
    keys_[meta.path] = keys;
  }

  // `_FillValue` of another v2 array keeps its spelling: as it reads in the array's type anyway, it needs no hint.
  static std::vector<Attribute> as_spelled(std::vector<Attribute> attributes) {
    for (Attribute& attribute : attributes) {
      const auto* spelling = dynamic_cast<const JsonSpelling*>(attribute.native.get());
      if (attribute.name != "_FillValue" || spelling == nullptr || !spelling->in_array_type) continue;
      if (same_value(spelling->value, attribute.value))
        attribute.value = attribute_from_json(parse_json(spelling->json), AttributeValue::TextForm());
    }
    return attributes;
  }

  // Without a hint `_FillValue` reads in the array's type, not in JSON's.
  void hint_mask(const std::string& hint_path, const ArrayNode& array) {
    const Attribute* mask = find_attribute(array.attributes, "_FillValue");
    if (mask == nullptr || mask->value.kind != AttributeValue::Kind::numbers) return;
    if (!same_value(in_array_type(mask->value, array.meta.dtype), mask->value)) {
      hints_.attribute(hint_path, mask->name, Json(type_hint(mask->value)));
    }
  }

  // The fill the metadata does not tell, or that what it tells is no mask.
  void hint_fill(const std::string& hint_path, const ArrayNode& array, const ZarrArray& native, const Json& fill) {
    const ArrayMeta& meta = array.meta;
    const bool told_unmasked = !fill.is_null() && find_attribute(array.attributes, "_FillValue") == nullptr;
    const std::vector<std::byte>* value = native.untold_fill ? &*native.untold_fill : nullptr;
    if (value == nullptr && told_unmasked && (!meta.dims.empty() || native.has_dimension_list)) value = &meta.fill;
    if (value == nullptr) return;
    // Arrays in structured types have no spelling but base64.
    const FillStyle style = meta.dtype.kind == DType::Kind::structured ? FillStyle::zarr2 : FillStyle::zarr3;
    const Json spelled = value->empty()
                             ? Json(nullptr)
                             : fill_to_json(meta.dtype, from_order(*value, meta.dtype, meta.layout.byte_order), style);
    hints_.member(hint_path, "fill", spelled);
  }

  void add_hints() {
    Json hints = hints_.document();
    if (hints.is_null()) return;
    for (auto& [key, document] : documents_) {
      if (key == ".zgroup" || key == ".zarray") document[kHintsMember] = hints;
    }
  }

  Json consolidated() const {
    Json metadata = Json::object();
    std::vector<std::pair<std::string, const Json*>> sorted;
    for (const auto& [key, document] : documents_) sorted.emplace_back(key, &document);
    std::sort(sorted.begin(), sorted.end());
    for (const auto& [key, document] : sorted) append_member(metadata, key, *document);
    Json all = Json::object();
    all["metadata"] = std::move(metadata);
    all["zarr_consolidated_format"] = 1;
    return all;
  }

  std::shared_ptr<Store> store_;
  const Hierarchy& tree_;
  HintsWritten hints_;
  bool alone_;
  std::vector<std::pair<std::string, Json>> documents_;
  std::map<std::string, ChunkKeys> keys_;
};

}  // namespace

std::unique_ptr<Writer> create(const std::string& path, const Hierarchy& tree) {
  check(tree);
  return TreeWriter(create_store(path), tree).write(false);
}

std::unique_ptr<Writer> resume(const std::string& path, const Hierarchy& tree, const EarlierWork& earlier) {
  check(tree);
  // Documents are written anew, chunks stay.
  return TreeWriter(create_store(path), tree).write(earlier.shares_target);
}

}  // namespace chunkwise::zarr2
