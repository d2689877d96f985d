#include "array/type_hints.h"

#include <algorithm>
#include <utility>

#include "array/numpy_type.h"
#include "base/error.h"
#include "base/json.h"

namespace chunkwise {
namespace {

std::optional<DType> parse_words(const Json& value) {
  try {
    NumpyType type = parse_numpy_type(value, TypeWords::hints);
    if (type.unsupported.empty()) return std::move(type.dtype);
  } catch (const Error&) {
    // Advice that makes no sense is none.
  }
  return std::nullopt;
}

// Takes over the byte orders of `stored`; false if elements of one are no elements of the other.
bool fit(const DType& stored, DType& hinted) {
  if (stored.kind != hinted.kind || stored.bytes != hinted.bytes || stored.unit != hinted.unit ||
      stored.n_units != hinted.n_units || stored.members.size() != hinted.members.size())
    return false;
  for (std::size_t i = 0; i < stored.members.size(); ++i) {
    const DType::Member& from = stored.members[i];
    DType::Member& to = hinted.members[i];
    if (!(from.shape == to.shape) || (from.name != to.name && !to.name.empty()) || !fit(from.type, to.type))
      return false;
    to.byte_order = from.byte_order;
  }
  return true;
}

}  // namespace

std::vector<TypeNode> parse_named_types(const Json& value) {
  std::vector<TypeNode> types;
  if (!value.is_array()) return types;
  for (const Json& entry : value) {
    if (!entry.is_array() || entry.size() != 2 || !entry[0].is_string()) continue;
    const std::string& path = entry[0].get_ref<const std::string&>();
    const bool is_new =
        std::none_of(types.begin(), types.end(), [&](const TypeNode& other) { return other.path == path; });
    auto dtype = parse_words(entry[1]);
    if (path.size() < 2 || path[0] != '/' || !is_new || !dtype) continue;
    TypeNode& node = types.emplace_back();
    node.path = path;
    node.dtype = std::move(*dtype);
    node.dtype.named = path;
  }
  return types;
}

Json print_named_types(const std::vector<TypeNode>& types) {
  Json list = Json::array();
  for (const TypeNode& node : types) {
    Json words = print_numpy_type(node.dtype, node.byte_order, TypeWords::hints);
    if (!words.is_null()) list.push_back(Json::array({node.path, std::move(words)}));
  }
  return list.empty() ? Json(nullptr) : list;
}

std::optional<DType> hinted_type(const Json& hint, const DType& stored, const std::vector<TypeNode>& named) {
  std::optional<DType> type;
  if (hint.is_string() && hint.get_ref<const std::string&>().substr(0, 1) == "/") {
    const auto found =
        std::find_if(named.begin(), named.end(), [&](const TypeNode& node) { return Json(node.path) == hint; });
    if (found != named.end()) type = found->dtype;
  } else {
    type = parse_words(hint);
  }
  if (type && !fit(stored, *type)) return std::nullopt;
  return type;
}

Json type_hint(const DType& dtype, const DType& stored) {
  if (!dtype.named.empty()) return Json(dtype.named);
  if (dtype == stored) return nullptr;
  return print_numpy_type(dtype, ByteOrder::little, TypeWords::hints);
}

}  // namespace chunkwise
