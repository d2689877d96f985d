#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "array/fill_json.h"
#include "array/json_attributes.h"
#include "array/json_fields.h"
#include "array/object_chunks.h"
#include "array/sampled_chunks.h"
#include "array/scalar.h"
#include "array/zarr_adapt.h"
#include "array/zarr_hints.h"
#include "array/zarr_tree.h"
#include "array/zarr_tree_reader.h"
#include "base/error.h"
#include "base/json.h"
#include "format/zarr2/format.h"
#include "format/zarr2/metadata.h"
#include "format/zarr2/nczarr.h"
#include "store/open_store.h"
#include "store/store.h"

namespace chunkwise::zarr2 {
namespace {

constexpr std::string_view kArray = ".zarray";
constexpr std::string_view kGroup = ".zgroup";
constexpr std::string_view kAttributes = ".zattrs";
constexpr std::string_view kConsolidated = ".zmetadata";

// The documents of one node.
struct Documents {
  const Json* array = nullptr;
  const Json* group = nullptr;
  const Json* attributes = nullptr;
};

class TreeReader final : public ZarrTreeReader {
 public:
  using ZarrTreeReader::ZarrTreeReader;

 private:
  void read_tree() override {
    tree_.format = "zarr2";
    collect_documents();
    read_hints();
    for (const auto& [node, documents] : nodes_) add_node(node, documents);
    complete_tree(tree_);
    hints_.apply(tree_);
    collect_dimensions(tree_);
  }

  void collect_documents() {
    auto consolidated = read_metadata(*store_, std::string(kConsolidated));
    tree_.consolidated = consolidated.has_value();
    // Consolidated metadata may be older than the nodes themselves; it serves where they have none of their own.
    has_nczarr_objects_ = store_->size_bytes(".nczarr").has_value();
    walk_prefixes(*store_, [this](const std::string& prefix) { return take_prefix(prefix); });
    if (consolidated && own_documents_.empty()) {
      consolidated_ = std::move(*consolidated);
      take_consolidated();
    }
    if (nodes_.empty() ||
        (nodes_.begin()->first.empty() && nodes_[""].array == nullptr && nodes_[""].group == nullptr)) {
      if (nodes_.empty()) throw Error(Code::corrupt, "the store has neither arrays nor groups of Zarr v2");
    }
  }

  void take_consolidated() {
    try {
      if (const Json& version = need_member(consolidated_, "zarr_consolidated_format"); !is_value(version, 1)) {
        throw Error(Code::unsupported, fmt::format("consolidated metadata of version {}", quote(version)));
      }
      const Json& metadata = need_member(consolidated_, "metadata");
      if (!metadata.is_object()) throw Error(Code::corrupt, "'metadata' is no object");
      for (const auto& [key, document] : metadata.get_ref<const Json::object_t&>()) {
        const auto slash = key.rfind('/');
        const std::string node = slash == std::string::npos ? std::string() : key.substr(0, slash);
        const std::string name = slash == std::string::npos ? key : key.substr(slash + 1);
        if (name != kArray && name != kGroup && name != kAttributes) continue;
        if (slash != std::string::npos) check_node_path(node);
        if (!document.is_object()) throw Error(Code::corrupt, fmt::format("'{}' is no object", key));
        set_document(node, name, &document);
      }
    } catch (Error& error) {
      throw error.in(std::string(kConsolidated));
    }
  }

  void set_document(const std::string& node, std::string_view name, const Json* document) {
    Documents& documents = nodes_[node];
    (name == kArray ? documents.array : name == kGroup ? documents.group : documents.attributes) = document;
  }

  bool take_prefix(const std::string& prefix) {
    const bool is_array = take_document(prefix, kArray);
    const bool is_group = take_document(prefix, kGroup);
    take_document(prefix, kAttributes);
    if (is_group) return true;
    // Below an array are its chunks; a node of Zarr v3 is none of ours. Anything else may hold nodes of an implied
    // group.
    return !is_array && !store_->size_bytes(metadata_key(prefix, "zarr.json"));
  }

  /// False if there is none.
  bool take_document(const std::string& prefix, std::string_view name) {
    auto document = read_metadata(*store_, metadata_key(prefix, name));
    if (!document) return false;
    for (const NczarrObject& object : nczarr_objects()) {
      if (!has_nczarr_objects_ || object.beside != name) continue;
      if (auto notes = read_metadata(*store_, metadata_key(prefix, object.name)))
        append_member(*document, std::string(object.member), std::move(*notes));
    }
    own_documents_.push_back(std::make_unique<Json>(std::move(*document)));
    set_document(prefix, name, own_documents_.back().get());
    return true;
  }

  void read_hints() {
    // Consolidated metadata written by others lacks the hints, so the root's own document is asked.
    const Documents root = nodes_.count("") != 0 ? nodes_[""] : Documents{};
    const Json* hints = root.group != nullptr ? find_member(*root.group, kHintsMember) : nullptr;
    if (hints == nullptr && root.array != nullptr) hints = find_member(*root.array, kHintsMember);
    if (hints != nullptr) {
      hints_ = HintsRead(*hints);
    } else if (tree_.consolidated) {
      const auto document = read_metadata(*store_, std::string(kGroup));
      const Json* member = document ? find_member(*document, kHintsMember) : nullptr;
      if (member != nullptr) hints_ = HintsRead(*member);
    } else {
      Json order = Json::array();
      std::set<std::string> seen;
      add_order("", seen, order);
      if (!order.empty()) hints_ = HintsRead(Json{{"version", 1}, {"order", std::move(order)}});
    }
  }

  // netCDF remembers the order of creation.
  void add_order(const std::string& node, std::set<std::string>& seen, Json& order) const {
    const auto found = nodes_.find(node);
    if (found == nodes_.end()) return;
    const Json none;
    const auto [array, group, attributes] = found->second;
    const NczarrMembers members =
        nczarr_members(group == nullptr ? none : *group, attributes == nullptr ? none : *attributes);
    const std::string start = node.empty() ? "" : node + "/";
    for (const std::string& name : members.arrays) order.push_back("/" + start + name);
    for (const std::string& name : members.groups) {
      if (!seen.insert(start + name).second) continue;
      order.push_back("/" + start + name);
      add_order(start + name, seen, order);
    }
  }

  void add_node(const std::string& node, const Documents& documents) {
    if (documents.array != nullptr && documents.group != nullptr) {
      tree_.unsupported.push_back({"/" + node, "an array and a group of one name"});
    }
    if (documents.group != nullptr || (documents.array == nullptr && node.empty())) {
      add_group(node, documents);
    } else if (documents.array != nullptr) {
      add_array(node, documents);
    }
  }

  void add_group(const std::string& node, const Documents& documents) {
    GroupNode group;
    group.path = "/" + node;
    if (documents.group != nullptr) {
      const Json* version = find_member(*documents.group, "zarr_format");
      if (version == nullptr || !is_value(*version, 2)) {
        throw Error(Code::corrupt, "'zarr_format' is not 2").in(metadata_key(node, kGroup));
      }
    }
    if (documents.attributes != nullptr) {
      group.attributes = attributes_from_json(visible(*documents.attributes), attribute_hints(group.path, documents),
                                              hints_.text_form());
    }
    const Json none;
    group.dimensions = nczarr_dimensions(documents.group == nullptr ? none : *documents.group,
                                         documents.attributes == nullptr ? none : *documents.attributes);
    tree_.groups.push_back(std::move(group));
  }

  // Our hints, or else those of netCDF-C.
  Json attribute_hints(const std::string& path, const Documents& documents) const {
    const Json& ours = hints_.attributes(path);
    return ours.is_null() ? nczarr_attribute_hints(*documents.attributes) : ours;
  }

  static Json visible(const Json& attributes) {
    Json shown = Json::object();
    for (const auto& [name, value] : attributes.get_ref<const Json::object_t&>()) {
      if (!is_nczarr_name(name)) append_member(shown, name, value);
    }
    return shown;
  }

  void add_array(const std::string& node, const Documents& documents) {
    const bool alone = node.empty();
    const std::string path = "/" + (alone ? store_name(path_) : node);
    const std::string hint_path = "/" + node;
    try {
      const Json none;
      const Json& zattrs = documents.attributes == nullptr ? none : *documents.attributes;
      ParsedArray parsed = parse_zarray(plain_zarray(*documents.array, zattrs));
      parsed.meta.path = path;
      ArrayNode array;
      Json attributes = Json::object();
      if (documents.attributes != nullptr) attributes = visible(*documents.attributes);
      read_dims(documents, hint_path, attributes, parsed);
      if (documents.attributes != nullptr) {
        array.attributes = attributes_from_json(attributes, attribute_hints(hint_path, documents), hints_.text_form());
      }
      hints_.apply(hint_path, parsed.meta, parsed.native);
      find_chunks(node, hint_path, parsed);
      read_fill(hint_path, parsed, array.attributes);
      array.meta = std::move(parsed.meta);
      array.native = std::make_shared<ZarrArray>(std::move(parsed.native));
      tree_.arrays.push_back(std::move(array));
    } catch (Error& error) {
      if (error.code() != Code::unsupported) throw error.in(metadata_key(node, kArray));
      tree_.unsupported.push_back({path, error.what()});
    }
    tree_.nameless = alone;
  }

  void read_dims(const Documents& documents, const std::string& hint_path, Json& attributes,
                 ParsedArray& parsed) const {
    const auto rank = static_cast<std::size_t>(parsed.meta.shape.rank());
    const Json none;
    const Json& zattrs = documents.attributes == nullptr ? none : *documents.attributes;
    // netCDF-C keeps the list of xarray only for others. Its fill value is no mask.
    const bool is_nczarr = is_nczarr_array(*documents.array, zattrs);
    if (is_nczarr) {
      attributes.erase(kDimensionsAttribute);
      const auto mask = attributes.find("_FillValue");
      if (mask != attributes.end() && parsed.meta.dtype.kind == DType::Kind::float_) restore_default_fill(*mask);
    }
    const Json* names = find_member(attributes, kDimensionsAttribute);
    const bool are_names = names != nullptr && names->is_array() && names->size() == rank &&
                           std::all_of(names->begin(), names->end(), [](const Json& n) { return n.is_string(); });
    if (are_names) {
      parsed.native.has_dimension_list = true;
      parsed.meta.dims = names->get<std::vector<std::string>>();
      attributes.erase(kDimensionsAttribute);
    } else {
      auto dims = nczarr_dims(*documents.array, zattrs, static_cast<int>(rank));
      if (!dims) dims = hints_.dims(hint_path, static_cast<int>(rank));
      if (dims) parsed.meta.dims = std::move(*dims);
    }
    if (std::all_of(parsed.meta.dims.begin(), parsed.meta.dims.end(), [](const auto& n) { return n.empty(); })) {
      parsed.meta.dims.clear();
    }
  }

  void find_chunks(const std::string& node, const std::string& hint_path, ParsedArray& parsed) {
    ArrayMeta& meta = parsed.meta;
    ChunkKeys keys;
    keys.prefix = node.empty() ? "" : node + "/";
    keys.separator = parsed.native.separator == 0 ? '.' : parsed.native.separator;
    const ChunkGrid grid = meta.grid();
    if (samples_ && is_worth_sampling(grid)) {
      ChunkSample sample = sample_chunks(*store_, keys, grid);
      if (sample.n_found == 0 && parsed.native.separator == 0 && meta.shape.rank() > 1) {
        keys.separator = '/';
        sample = sample_chunks(*store_, keys, grid);
      }
      return take_estimate(sample, meta);
    }
    // What a hint says of the fill counts only if no chunk is missing.
    if (hints_.fill(hint_path) == nullptr) {
      if (const auto late = find_chunks_late(store_, keys, meta)) {
        chunks_[meta.path] = *late;
        return;
      }
    }
    auto stored = std::make_shared<const StoredChunks>(list_chunks(*store_, keys, grid));
    if (stored->count() == 0 && parsed.native.separator == 0 && meta.shape.rank() > 1) {
      // Early stores with nested keys do not say so.
      ChunkKeys nested = keys;
      nested.separator = '/';
      auto found = std::make_shared<const StoredChunks>(list_chunks(*store_, nested, grid));
      if (found->count() > 0) {
        keys = nested;
        stored = std::move(found);
        parsed.native.separator = '/';
        parsed.native.separator_found = true;
      }
    }
    meta.n_stored_chunks = stored->count();
    meta.stored_bytes = stored->bytes();
    chunks_[meta.path] = {keys, std::move(stored), nullptr};
  }

  // What a never-written element is, and whether that is also the value that masks.
  void read_fill(const std::string& hint_path, ParsedArray& parsed, std::vector<Attribute>& attributes) const {
    ArrayMeta& meta = parsed.meta;
    if (!meta.dtype.is_plain() && !meta.dtype.is_varying()) return;
    type_mask(hint_path, meta, attributes);
    const Json* hint = hints_.fill(hint_path);
    std::optional<std::vector<std::byte>> hinted;
    if (hint != nullptr) {
      try {
        hinted = hint->is_null() ? std::vector<std::byte>()
                                 : in_order(fill_from_json(*hint, meta.dtype), meta.dtype, meta.layout.byte_order);
      } catch (const Error&) {
        // Advice that makes no sense is none.
      }
    }
    const std::vector<std::byte> told = meta.fill;
    const bool all_present = meta.n_stored_chunks == meta.grid().n_chunks();
    if (hinted && *hinted != told && all_present) {
      parsed.native.untold_fill = *hinted;
      meta.fill = *hinted;
    }
    // Texts have to have some fill in Zarr; an empty one masks nothing.
    const bool is_string = meta.dtype.kind == DType::Kind::string;
    const bool is_text = is_string || meta.dtype.kind == DType::Kind::text;
    const bool is_empty_text =
        is_text && std::all_of(told.begin(), told.end(), [](std::byte b) { return b == std::byte{0}; });
    const bool is_complex = meta.dtype.kind == DType::Kind::complex_;
    const bool can_mask = is_text || is_complex || meta.dtype.is_number();
    const bool is_mask =
        can_mask && !told.empty() && !is_empty_text && parsed.native.has_dimension_list && !(hinted && *hinted == told);
    if (!is_mask || find_attribute(attributes, "_FillValue") != nullptr) return;
    auto spelling = std::make_shared<JsonSpelling>();
    spelling->implied = true;
    if (is_text) {
      spelling->value.kind = AttributeValue::Kind::text;
      spelling->value.texts.emplace_back(as_text(is_string ? ByteView(told).first(told.size() - 1) : ByteView(told)));
      spelling->value.text_form = {.fixed = !is_string, .utf8 = is_string};
    } else {
      spelling->value.kind = AttributeValue::Kind::numbers;
      spelling->value.dtype = is_complex ? DType(DType::Kind::float_, meta.dtype.bytes / 2) : meta.dtype;
      if (is_complex) spelling->value.shape = Shape{2};
      spelling->value.data = from_order(told, meta.dtype, meta.layout.byte_order);
    }
    attributes.push_back({"_FillValue", spelling->value, spelling});
  }

  // A `_FillValue` without a hint has the type of the array.
  void type_mask(const std::string& hint_path, const ArrayMeta& meta, std::vector<Attribute>& attributes) const {
    if (find_member(hints_.attributes(hint_path), "_FillValue") != nullptr) return;
    for (Attribute& attribute : attributes) {
      if (attribute.name != "_FillValue") continue;
      auto spelling = std::make_shared<JsonSpelling>(dynamic_cast<const JsonSpelling&>(*attribute.native));
      spelling->value = in_array_type(attribute.value, meta.dtype);
      spelling->in_array_type = true;
      attribute.value = spelling->value;
      attribute.native = std::move(spelling);
    }
  }

  bool has_nczarr_objects_ = false;
  Json consolidated_;
  std::vector<std::unique_ptr<Json>> own_documents_;
  std::map<std::string, Documents> nodes_;
};

}  // namespace

bool probe(const std::string& path) {
  const StoreProbe probe(path);
  // Beside a v3 document, v2 metadata is what an older version left behind.
  return (probe.has(kGroup) || probe.has(kArray) || probe.has(kConsolidated)) && !probe.has("zarr.json");
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

}  // namespace chunkwise::zarr2
