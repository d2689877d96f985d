#include "array/dataset.h"

#include <fmt/format.h>

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

void lose_types(Hierarchy& tree, const char* target, AdaptReport& report) {
  for (const TypeNode& type : tree.types) {
    const std::string what = fmt::format("the named type {}", type.dtype.name());
    if (type.dtype.kind == DType::Kind::other || !type.attributes.empty())
      report.losses.push_back({type.path, fmt::format("{}{} cannot be stored in {}", what,
                                                      type.attributes.empty() ? "" : " with attributes", target)});
    else
      report.notes.push_back(fmt::format("{}: {} has no name in {}", type.path, what, target));
  }
  tree.types.clear();
}

}  // namespace chunkwise
