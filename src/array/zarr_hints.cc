#include "array/zarr_hints.h"

#include <algorithm>
#include <array>
#include <unordered_set>
#include <utility>

#include "array/json_attributes.h"
#include "array/json_fields.h"
#include "array/type_hints.h"
#include "base/json.h"

namespace chunkwise {
namespace {

constexpr const char* kAsciiTexts = "text-ascii";  // of an array: HDF5 says so of its strings

constexpr int kVersion = 1;

const Json kNull;

bool is_zarr(const std::string& format) {
  return format.substr(0, 4) == "zarr";
}

std::string storage_name(Storage storage) {
  return storage == Storage::compact ? "compact" : "contiguous";
}

// [name, length] or [name, length, "unlimited"].
std::optional<Dimension> parse_dimension(const Json& value) {
  if (!value.is_array() || value.size() < 2 || value.size() > 3) return std::nullopt;
  if (!value[0].is_string() || !value[1].is_number_unsigned()) return std::nullopt;
  const auto length = value[1].get<std::uint64_t>();
  if (length > std::uint64_t{1} << 62) return std::nullopt;
  Dimension dimension{value[0].get<std::string>(), static_cast<Index>(length), false};
  if (value.size() == 3) {
    if (!is_value(value[2], "unlimited")) return std::nullopt;
    dimension.unlimited = true;
  }
  return dimension;
}

Json print_dimensions(const std::vector<Dimension>& dimensions) {
  Json list = Json::array();
  for (const Dimension& dimension : dimensions) {
    Json entry = Json::array({dimension.name, static_cast<std::uint64_t>(dimension.length)});
    if (dimension.unlimited) entry.push_back("unlimited");
    list.push_back(std::move(entry));
  }
  return list;
}

bool same_dimensions(const std::vector<Dimension>& a, const std::vector<Dimension>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Dimension& x, const Dimension& y) {
    return x.name == y.name && x.length == y.length && x.unlimited == y.unlimited;
  });
}

// All paths of a tree by creation order, and in the order a reader gives them without a hint.
std::vector<std::string> paths_by_order(const Hierarchy& tree) {
  std::vector<std::pair<std::uint64_t, std::string>> nodes;
  for (const GroupNode& group : tree.groups) {
    if (group.path != "/") nodes.emplace_back(group.order, group.path);
  }
  for (const ArrayNode& array : tree.arrays) nodes.emplace_back(array.order, array.meta.path);
  std::stable_sort(nodes.begin(), nodes.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> paths;
  for (auto& [order, path] : nodes) paths.push_back(std::move(path));
  return paths;
}

// The same nodes with nothing but what the Zarr metadata says of dimensions.
Hierarchy skeleton(const Hierarchy& tree) {
  Hierarchy bare;
  for (const GroupNode& group : tree.groups) bare.groups.emplace_back().path = group.path;
  for (const ArrayNode& array : tree.arrays) {
    ArrayMeta& meta = bare.arrays.emplace_back().meta;
    meta.path = array.meta.path;
    meta.shape = array.meta.shape;
    meta.dims = array.meta.dims;
  }
  complete_tree(bare);
  return bare;
}

}  // namespace

std::string source_format(const Hierarchy& tree) {
  if (!is_zarr(tree.format)) return tree.format;
  const auto* native = dynamic_cast<const ZarrTree*>(tree.native.get());
  return native == nullptr ? std::string() : native->source;
}

HintsRead::HintsRead() : document_(std::make_unique<const Json>()) {}
HintsRead::HintsRead(HintsRead&&) noexcept = default;
HintsRead& HintsRead::operator=(HintsRead&&) noexcept = default;
HintsRead::~HintsRead() = default;

HintsRead::HintsRead(const Json& document) : document_(std::make_unique<const Json>(document)) {
  const Json* version = find_member(*document_, "version");
  if (version == nullptr || !is_value(*version, kVersion)) {
    document_ = std::make_unique<const Json>();
    return;
  }
  if (const Json* text = find_member(*document_, "text"); text != nullptr && text->is_string()) {
    parse_text_form(text->get_ref<const std::string&>(), text_form_);
  }
  if (const Json* types = find_member(*document_, "types")) types_ = parse_named_types(*types);
  const Json* nodes = find_member(*document_, "nodes");
  if (nodes == nullptr || !nodes->is_object()) return;
  for (const auto& [path, node] : nodes->get_ref<const Json::object_t&>()) nodes_[path] = &node;
}

const Json* HintsRead::member(const std::string& path, std::string_view name) const {
  const auto node = nodes_.find(path);
  return node == nodes_.end() ? nullptr : find_member(*node->second, name);
}

const Json& HintsRead::attributes(const std::string& path) const {
  const Json* hints = member(path, "attributes");
  return hints == nullptr ? kNull : *hints;
}

const Json* HintsRead::fill(const std::string& path) const {
  return member(path, "fill");
}

std::optional<std::vector<std::string>> HintsRead::dims(const std::string& path, int rank) const {
  const Json* dims = member(path, "dims");
  if (dims == nullptr || !dims->is_array() || static_cast<int>(dims->size()) != rank) return std::nullopt;
  std::vector<std::string> names;
  for (const Json& name : *dims) {
    if (!name.is_string()) return std::nullopt;
    names.push_back(name.get<std::string>());
  }
  return names;
}

void HintsRead::apply(const std::string& path, ArrayMeta& meta, ZarrArray& native) const {
  const Json* type = member(path, "type");
  if (type != nullptr) {
    if (auto hinted = hinted_type(*type, meta.dtype, types_)) meta.dtype = std::move(*hinted);
  }
  const Json* extents = member(path, "max_shape");
  if (extents != nullptr && extents->is_array() && static_cast<int>(extents->size()) == meta.shape.rank()) {
    Shape max_shape = meta.shape;
    bool fits = true;
    for (int axis = 0; axis < meta.shape.rank(); ++axis) {
      const Json& extent = (*extents)[static_cast<std::size_t>(axis)];
      if (extent.is_null()) {
        max_shape[axis] = kUnlimited;
      } else if (extent.is_number_unsigned() && extent.get<std::uint64_t>() <= std::uint64_t{1} << 62) {
        max_shape[axis] = static_cast<Index>(extent.get<std::uint64_t>());
        fits = fits && max_shape[axis] >= meta.shape[axis];
      } else {
        fits = false;
      }
    }
    if (fits) meta.max_shape = max_shape;
  }
  const Json* storage = member(path, "storage");
  if (storage != nullptr && *storage == Json("contiguous")) native.storage = Storage::contiguous;
  if (storage != nullptr && *storage == Json("compact")) native.storage = Storage::compact;
  const Json* codecs = member(path, "codecs");
  if (codecs != nullptr && codecs->is_string()) native.codecs = codecs->get<std::string>();
  const Json* text = member(path, "text");
  meta.ascii_texts = meta.dtype.kind == DType::Kind::string && text != nullptr && is_value(*text, kAsciiTexts);
}

void HintsRead::apply_dimensions(Hierarchy& tree) const {
  // A group without a hint has the dimensions that its arrays tell of, also where they shadow those of a hint above.
  Hierarchy bare = skeleton(tree);
  collect_dimensions(bare);
  std::unordered_map<std::string, const GroupNode*> collected;
  for (const GroupNode& group : bare.groups) collected[group.path] = &group;
  for (GroupNode& group : tree.groups) {
    const Json* hint = member(group.path, "dimensions");
    if (hint == nullptr || !hint->is_array()) {
      if (group.dimensions.empty()) group.dimensions = collected.at(group.path)->dimensions;
      continue;
    }
    std::unordered_set<std::string> names;
    for (const Json& entry : *hint) {
      auto dimension = parse_dimension(entry);
      if (dimension && names.insert(dimension->name).second) group.dimensions.push_back(std::move(*dimension));
    }
  }
  // Arrays may have been resized since: what they say now decides.
  struct Use {
    Index least = 0;
    Index most = 0;
  };
  std::unordered_map<const Dimension*, Use> uses;
  std::unordered_map<std::string, std::unordered_map<std::string, const Dimension*>> dimensions_of;
  for (const GroupNode& group : tree.groups) {
    auto& of_group = dimensions_of[group.path];
    for (const Dimension& dimension : group.dimensions) of_group[dimension.name] = &dimension;
  }
  for (const ArrayNode& array : tree.arrays) {
    for (std::size_t axis = 0; axis < array.meta.dims.size(); ++axis) {
      const Index length = array.meta.shape[static_cast<int>(axis)];
      for (std::string at = array.meta.path; at != "/";) {
        at = parent_path(at);
        const auto& of_group = dimensions_of[at];
        const auto found = of_group.find(array.meta.dims[axis]);
        if (found == of_group.end()) continue;
        const auto [use, is_new] = uses.emplace(found->second, Use{length, length});
        use->second.least = std::min(use->second.least, length);
        use->second.most = std::max(use->second.most, length);
        break;
      }
    }
  }
  for (GroupNode& group : tree.groups) {
    std::vector<Dimension> kept;
    for (Dimension& dimension : group.dimensions) {
      const auto use = uses.find(&dimension);
      if (use != uses.end()) {
        // Variables may be shorter than an unlimited dimension, never longer; of a fixed one they have the length.
        if (!dimension.unlimited && use->second.least != use->second.most) continue;
        dimension.length = dimension.unlimited ? std::max(dimension.length, use->second.most) : use->second.most;
      }
      kept.push_back(dimension);
    }
    group.dimensions = std::move(kept);
  }
}

void HintsRead::apply_order(Hierarchy& tree) const {
  const Json* order = find_member(*document_, "order");
  if (order == nullptr || !order->is_array()) return;
  std::unordered_map<std::string, std::uint64_t> position;
  for (const Json& path : *order) {
    if (path.is_string()) position.emplace(path.get<std::string>(), position.size() + 1);
  }
  // Nodes the hint does not know come last, in their order.
  const std::uint64_t known = position.size() + 1;
  const auto place = [&](const std::string& path, std::uint64_t otherwise) {
    const auto found = position.find(path);
    return found == position.end() ? known + otherwise : found->second;
  };
  for (const GroupNode& group : tree.groups) {
    const std::uint64_t own = place(group.path, group.order);
    if (group.path != "/" && parent_path(group.path) != "/" && own < place(parent_path(group.path), 0)) return;
  }
  for (GroupNode& group : tree.groups) group.order = group.path == "/" ? 0 : place(group.path, group.order);
  for (ArrayNode& array : tree.arrays) array.order = place(array.meta.path, array.order);
  std::stable_sort(tree.groups.begin(), tree.groups.end(),
                   [](const GroupNode& a, const GroupNode& b) { return a.order < b.order; });
  std::stable_sort(tree.arrays.begin(), tree.arrays.end(),
                   [](const ArrayNode& a, const ArrayNode& b) { return a.order < b.order; });
}

void HintsRead::apply(Hierarchy& tree) const {
  tree.types = types_;
  apply_order(tree);
  apply_dimensions(tree);
  const Json* classic = find_member(*document_, "classic_model");
  tree.classic_model = classic != nullptr && *classic == Json(true);
  auto native = std::make_shared<ZarrTree>();
  if (const auto* before = dynamic_cast<const ZarrTree*>(tree.native.get())) *native = *before;
  if (const Json* source = find_member(*document_, "source"); source != nullptr && source->is_string()) {
    native->source = source->get<std::string>();
  }
  tree.native = std::move(native);
}

struct HintsWritten::Node {
  Json attributes = Json::object();
  Json members = Json::object();
};

HintsWritten::HintsWritten(const Hierarchy& tree) : tree_(tree), source_(source_format(tree)) {
  unwraps_single_ = source_ == "nc4" || source_ == "nc3";
  // The commonest form of texts needs no hint at each of them.
  std::array<std::pair<AttributeValue::TextForm, std::size_t>, 4> counts{
      {{{false, true}, 0}, {{false, false}, 0}, {{true, true}, 0}, {{true, false}, 0}}};
  const auto count = [&](const std::vector<Attribute>& attributes) {
    for (const Attribute& attribute : attributes) {
      if (attribute.value.kind != AttributeValue::Kind::text) continue;
      for (auto& [form, n] : counts) n += form == attribute.value.text_form ? 1 : 0;
    }
  };
  for (const GroupNode& group : tree.groups) count(group.attributes);
  for (const ArrayNode& array : tree.arrays) count(array.attributes);
  const auto most =
      std::max_element(counts.begin(), counts.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  text_form_ = most->first;
}

HintsWritten::~HintsWritten() = default;

Json HintsWritten::attributes(const std::string& path, const std::vector<Attribute>& attributes) {
  Json object = Json::object();
  for (const Attribute& attribute : attributes) {
    const auto* spelling = dynamic_cast<const JsonSpelling*>(attribute.native.get());
    if (spelling != nullptr && spelling->implied && same_value(spelling->value, attribute.value)) continue;
    Json hint;
    Json value = attribute_to_json(attribute, unwraps_single_, text_form_, hint);
    this->attribute(path, attribute.name, hint);
    append_member(object, attribute.name, std::move(value));
  }
  return object;
}

void HintsWritten::attribute(const std::string& path, const std::string& name, const Json& hint) {
  if (hint.is_null()) return;
  auto& node = nodes_[path];
  if (node == nullptr) node = std::make_unique<Node>();
  node->attributes[name] = hint;
}

bool HintsWritten::has_attribute(const std::string& path, const std::string& name) const {
  const auto node = nodes_.find(path);
  return node != nodes_.end() && node->second->attributes.contains(name);
}

void HintsWritten::member(const std::string& path, const std::string& name, const Json& value) {
  auto& node = nodes_[path];
  if (node == nullptr) node = std::make_unique<Node>();
  node->members[name] = value;
}

void HintsWritten::array(const std::string& path, const ArrayNode& node, const DType& stored) {
  const ArrayMeta& meta = node.meta;
  if (Json type = type_hint(meta.dtype, stored); !type.is_null()) member(path, "type", type);
  if (meta.max_shape.rank() == meta.shape.rank() && !(meta.max_shape == meta.shape)) {
    Json extents = Json::array();
    for (const Index extent : meta.max_shape) {
      extents.push_back(extent == kUnlimited ? Json(nullptr) : Json(static_cast<std::uint64_t>(extent)));
    }
    member(path, "max_shape", extents);
  }
  if (meta.ascii_texts) member(path, "text", Json(kAsciiTexts));
  if (const auto* origin = dynamic_cast<const ArrayOrigin*>(node.native.get())) {
    if (origin->storage) member(path, "storage", Json(storage_name(*origin->storage)));
    if (!origin->codecs.empty()) member(path, "codecs", Json(origin->codecs));
  }
}

Json HintsWritten::document() {
  Json hints = Json::object();
  Hierarchy bare = skeleton(tree_);
  const auto order = paths_by_order(tree_);
  if (order != paths_by_order(bare)) hints["order"] = order;
  collect_dimensions(bare);
  std::unordered_map<std::string, const GroupNode*> collected;
  for (const GroupNode& group : bare.groups) collected[group.path] = &group;
  for (const GroupNode& group : tree_.groups) {
    if (!same_dimensions(group.dimensions, collected.at(group.path)->dimensions)) {
      member(group.path, "dimensions", print_dimensions(group.dimensions));
    }
  }
  if (tree_.classic_model) hints["classic_model"] = true;
  if (Json types = print_named_types(tree_.types); !types.is_null()) hints["types"] = std::move(types);

  const AttributeValue::TextForm plain;
  Json nodes = Json::object();
  for (auto& [path, node] : nodes_) {
    Json entry = std::move(node->members);
    if (!node->attributes.empty()) entry["attributes"] = std::move(node->attributes);
    append_member(nodes, path, std::move(entry));
  }
  if (!(text_form_ == plain)) hints["text"] = text_form_name(text_form_);
  if (!nodes.empty()) hints["nodes"] = std::move(nodes);
  if (hints.empty() && source_.empty()) return Json(nullptr);
  Json document = Json::object();
  document["version"] = kVersion;
  if (!source_.empty()) document["source"] = source_;
  document.update(hints);
  return document;
}

}  // namespace chunkwise
