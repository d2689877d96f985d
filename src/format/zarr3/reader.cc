#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "array/json_attributes.h"
#include "array/json_fields.h"
#include "array/object_chunks.h"
#include "array/sampled_chunks.h"
#include "array/zarr_adapt.h"
#include "array/zarr_hints.h"
#include "array/zarr_tree.h"
#include "array/zarr_tree_reader.h"
#include "base/error.h"
#include "base/json.h"
#include "format/zarr3/format.h"
#include "format/zarr3/mask.h"
#include "format/zarr3/metadata.h"
#include "store/open_store.h"
#include "store/store.h"

namespace chunkwise::zarr3 {
namespace {

constexpr std::string_view kDocument = "zarr.json";

bool is_array(const Json& document) {
  const std::string& type = need_string(need_member(document, "node_type"), "node_type");
  if (type != "array" && type != "group") {
    throw Error(Code::corrupt, fmt::format("'node_type' is {}, neither 'array' nor 'group'", quote(Json(type))));
  }
  return type == "array";
}

const Json* find_object(const Json& document, std::string_view name) {
  const Json* member = find_member(document, name);
  if (member == nullptr || member->is_null()) return nullptr;
  if (!member->is_object()) throw Error(Code::corrupt, fmt::format("'{}' is {}, not an object", name, quote(*member)));
  return member;
}

// Before 2023 there were drafts of version 3 of another layout, which share the name of this document.
void refuse_draft(const Json& root) {
  const Json* version = find_member(root, "zarr_format");
  const bool is_draft =
      find_member(root, "metadata_encoding") != nullptr || (version != nullptr && version->is_string());
  if (is_draft)
    throw Error(Code::unsupported, "the store is of a draft of Zarr v3 from before 2023",
                "rewrite it as Zarr v2 with the program that wrote it, or with zarr-python 2.18");
}

class TreeReader final : public ZarrTreeReader {
 public:
  using ZarrTreeReader::ZarrTreeReader;

 private:
  void read_tree() override {
    tree_.format = "zarr3";
    auto root = read_metadata(*store_, std::string(kDocument));
    if (!root) throw Error(Code::corrupt, "the store has no zarr.json");
    refuse_draft(*root);
    try {
      alone_ = is_array(*root);
      read_hints(*root);
    } catch (Error& error) {
      throw error.in(std::string(kDocument));
    }
    add_node("", *root);
    if (!alone_) add_members(*root);
    tree_.nameless = alone_;
    complete_tree(tree_);
    hints_.apply(tree_);
    collect_dimensions(tree_);
  }

  void read_hints(const Json& root) {
    const Json* consolidated = alone_ ? nullptr : find_object(root, "consolidated_metadata");
    const Json* hints = alone_                    ? find_member(root, kArrayHintsMember)
                        : consolidated != nullptr ? find_member(*consolidated, kGroupHintsMember)
                                                  : nullptr;
    if (hints != nullptr) hints_ = HintsRead(*hints);
  }

  void add_members(const Json& root) {
    const Json* consolidated = find_object(root, "consolidated_metadata");
    const Json* kind = consolidated == nullptr ? nullptr : find_member(*consolidated, "kind");
    tree_.consolidated = kind != nullptr && *kind == Json("inline");
    // Consolidated metadata may be older than the nodes themselves; it serves where they have none of their own.
    const std::size_t n_before = tree_.groups.size() + tree_.arrays.size();
    walk_members();
    if (!tree_.consolidated || tree_.groups.size() + tree_.arrays.size() > n_before) return;
    const Json* metadata = find_object(*consolidated, "metadata");
    if (metadata == nullptr) throw Error(Code::corrupt, "'consolidated_metadata' has no 'metadata'");
    for (const auto& [node, document] : metadata->get_ref<const Json::object_t&>()) {
      check_node_path(node);
      if (!document.is_object()) throw Error(Code::corrupt, "the metadata is no JSON object").in(node);
      add_node(node, document);
    }
  }

  void walk_members() {
    walk_prefixes(*store_, [this](const std::string& prefix) {
      if (prefix.empty()) return true;
      const auto document = read_metadata(*store_, metadata_key(prefix, kDocument));
      // A node of Zarr v2 is none of ours; anything else may hold nodes of an implied group.
      if (!document)
        return !store_->size_bytes(metadata_key(prefix, ".zarray")) &&
               !store_->size_bytes(metadata_key(prefix, ".zgroup"));
      add_node(prefix, *document);
      return !is_array(*document);
    });
  }

  void add_node(const std::string& node, const Json& document) {
    try {
      is_array(document) ? add_array(node, document) : add_group(node, document);
    } catch (Error& error) {
      throw error.in(metadata_key(node, kDocument));
    }
  }

  void add_group(const std::string& node, const Json& document) {
    GroupNode group;
    group.path = "/" + node;
    const std::string extension = check_group(document);
    if (!extension.empty()) {
      tree_.unsupported.push_back(
          {group.path, fmt::format("extension {} in the metadata of the group", quote_name(extension))});
    }
    if (const Json* attributes = find_object(document, "attributes")) {
      group.attributes = attributes_from_json(*attributes, hints_.attributes(group.path), hints_.text_form());
    }
    tree_.groups.push_back(std::move(group));
  }

  void add_array(const std::string& node, const Json& document) {
    const std::string path = "/" + (node.empty() ? store_name(path_) : node);
    const std::string hint_path = "/" + node;
    ParsedArray parsed;
    try {
      parsed = parse_array(document_without_hints(node, document));
    } catch (const Error& error) {
      if (error.code() != Code::unsupported) throw;
      tree_.unsupported.push_back({path, error.what()});
      return;
    }
    ArrayNode array;
    ArrayMeta& meta = parsed.meta;
    meta.path = path;
    if (const Json* attributes = find_object(document, "attributes")) {
      array.attributes = attributes_from_json(*attributes, hints_.attributes(hint_path), hints_.text_form());
      read_mask(hint_path, meta, *attributes, array.attributes);
    }
    hints_.apply(hint_path, meta, parsed.native);
    ChunkKeys keys;
    keys.prefix = node.empty() ? "" : node + "/";
    keys.marked = !parsed.native.v2_keys;
    keys.separator = parsed.native.separator == 0 ? '/' : parsed.native.separator;
    const ChunkGrid objects(meta.shape, meta.unit());
    if (parsed.has_keys && samples_ && is_worth_sampling(objects)) {
      take_estimate(sample_chunks(*store_, keys, objects), meta);
    } else if (parsed.has_keys) {
      const auto late = find_chunks_late(store_, keys, meta);
      chunks_[path] = late ? *late : find_chunks(store_, keys, meta);
    } else {
      chunks_[path] = {keys, nullptr, nullptr};
    }
    const Json* fill = hints_.fill(hint_path);
    const bool is_zero = std::all_of(meta.fill.begin(), meta.fill.end(), [](std::byte b) { return b == std::byte{0}; });
    if (fill != nullptr && fill->is_null() && is_zero) meta.fill.clear();
    array.meta = std::move(meta);
    array.native = std::make_shared<ZarrArray>(std::move(parsed.native));
    tree_.arrays.push_back(std::move(array));
  }

  // The hints of a store that is one array are no extension that somebody must understand, whatever they say.
  Json document_without_hints(const std::string& node, const Json& document) const {
    Json copy = document;
    if (node.empty()) copy.erase(kArrayHintsMember);
    return copy;
  }

  // `_FillValue` has a spelling of its own, and without a hint the type of the array.
  void read_mask(const std::string& hint_path, const ArrayMeta& meta, const Json& object,
                 std::vector<Attribute>& attributes) const {
    const Json* spelled = find_member(object, "_FillValue");
    if (spelled == nullptr || !(meta.dtype.is_number() || meta.dtype.kind == DType::Kind::complex_)) return;
    const Json value = decode_mask(*spelled, meta.dtype.kind);
    const Json* hint = find_member(hints_.attributes(hint_path), "_FillValue");
    auto spelling = std::make_shared<JsonSpelling>();
    spelling->json = dump_json(*spelled);
    spelling->value = hint != nullptr ? attribute_from_json(value, *hint, hints_.text_form())
                                      : in_array_type(attribute_from_json(value, hints_.text_form()), meta.dtype);
    for (Attribute& attribute : attributes) {
      if (attribute.name != "_FillValue") continue;
      attribute.value = spelling->value;
      attribute.native = spelling;
    }
  }

  bool alone_ = false;
};

}  // namespace

bool probe(const std::string& path) {
  return StoreProbe(path).has(kDocument);
}

std::unique_ptr<Reader> open(const std::string& path) {
  try {
    return TreeReader(open_store(path), path).read();
  } catch (Error& error) {
    throw error.in(path);
  }
}

Hierarchy describe(const std::string& path) {
  try {
    return TreeReader(open_store(path), path).describe();
  } catch (Error& error) {
    throw error.in(path);
  }
}

}  // namespace chunkwise::zarr3
