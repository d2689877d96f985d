#include "array/dataset.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

namespace chunkwise {
namespace {

[[noreturn]] void refuse_elements(const std::string& path) {
  throw Error(Code::unsupported, "elements that refer to other places cannot be moved in this format").in(path);
}

}  // namespace

void Reader::compare_elements(const std::string& path, const Reader&, const ElementWork&) const {
  refuse_elements(path);
}

std::unique_ptr<ElementSource> Reader::open_elements(const std::string&, std::uint64_t) const {
  return nullptr;
}

std::unique_ptr<ElementSink> Writer::open_elements(const std::string&, std::uint64_t) {
  return nullptr;
}

void Writer::copy_elements(const std::string& path, const Reader&, const ElementWork&) {
  refuse_elements(path);
}

void lose_types(Hierarchy& tree, const char* target, const std::function<bool(const DType&)>& can_keep,
                AdaptReport& report) {
  std::erase_if(tree.types, [&](TypeNode& type) {
    const DType& dtype = type.dtype;
    const bool is_kept = can_keep(dtype);
    const std::string what = fmt::format("the named type {}", dtype.name());
    if (!type.attributes.empty() || (!is_kept && !dtype.is_number() && dtype.kind != DType::Kind::text))
      report.losses.push_back(
          {type.path, fmt::format("{}{} cannot be stored in {}", is_kept ? "attributes of " : "",
                                  what + (is_kept || type.attributes.empty() ? "" : " with attributes"), target)});
    else if (!is_kept)
      report.notes.push_back(fmt::format("{}: {} has no name in {}", type.path, what, target));
    type.attributes.clear();
    return !is_kept;
  });
  for (ArrayNode& array : tree.arrays) {
    const std::string& name = array.meta.dtype.named;
    const auto is_it = [&](const TypeNode& type) { return type.path == name; };
    if (!name.empty() && std::none_of(tree.types.begin(), tree.types.end(), is_it)) array.meta.dtype.named.clear();
  }
}

}  // namespace chunkwise
