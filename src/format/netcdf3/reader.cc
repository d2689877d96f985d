#include <algorithm>

#include "array/linear.h"
#include "base/error.h"
#include "format/netcdf3/format.h"
#include "format/netcdf3/header.h"
#include "format/netcdf3/native.h"
#include "format/netcdf3/source.h"
#include "store/store.h"

namespace chunkwise::netcdf3 {
namespace {

ArrayMeta meta_of(const Header& header, const Variable& variable) {
  ArrayMeta meta;
  meta.path = "/" + variable.name;
  meta.dtype = dtype_of(variable.type);
  meta.layout.byte_order = ByteOrder::big;
  for (const std::size_t id : variable.dimensions) {
    const Dimension& dimension = header.dimensions[id];
    meta.shape.push_back(dimension.length);
    meta.max_shape.push_back(dimension.unlimited ? kUnlimited : dimension.length);
    meta.dims.push_back(dimension.name);
  }
  meta.storage = Storage::contiguous;
  meta.pads_edges = false;
  meta.chunk = linear_chunk(meta.shape, meta.dtype.bytes);
  meta.fill = fill_of(variable.type, variable.attributes);
  meta.stored_bytes = linear_bytes(meta);
  meta.n_stored_chunks = meta.grid().n_chunks();
  return meta;
}

class ClassicReader final : public Reader {
 public:
  explicit ClassicReader(const std::string& path) : path_(path), file_(open_file_object(path)) {
    try {
      build(read_header(*file_));
    } catch (Error& error) {
      throw error.in(path);
    }
  }

  const Hierarchy& tree() const override { return tree_; }

  std::unique_ptr<ArraySource> open_array(const std::string& path) const override {
    const auto found = std::find_if(tree_.arrays.begin(), tree_.arrays.end(),
                                    [&](const ArrayNode& node) { return node.meta.path == path; });
    CHUNKWISE_CHECK(found != tree_.arrays.end());
    return make_source(file_, path_, found->meta, places_[static_cast<std::size_t>(found - tree_.arrays.begin())]);
  }

 private:
  void build(Header header) {
    tree_.format = "nc3";
    tree_.classic_model = true;
    auto native = std::make_shared<FileNative>();
    native->version = header.version;
    tree_.native = std::move(native);
    std::uint64_t order = 1;
    for (Variable& variable : header.variables) {
      ArrayNode node;
      node.meta = meta_of(header, variable);
      node.attributes = std::move(variable.attributes);
      node.order = order++;
      tree_.arrays.push_back(std::move(node));
      places_.push_back(variable.place);
    }
    GroupNode root;
    root.path = "/";
    root.attributes = std::move(header.attributes);
    root.dimensions = std::move(header.dimensions);
    tree_.groups.push_back(std::move(root));
  }

  const std::string path_;
  const std::shared_ptr<const Object> file_;
  Hierarchy tree_;
  std::vector<Place> places_;  // of the arrays of tree_
};

}  // namespace

bool probe(const std::string& path) {
  try {
    const std::unique_ptr<Object> file = open_file_object(path);
    if (file->size_bytes() < 4) return false;
    std::byte magic[4];
    file->read(0, magic);
    const std::string_view text = as_text(magic);
    return text.substr(0, 3) == "CDF" && (text[3] == 1 || text[3] == 2 || text[3] == 5);
  } catch (const Error&) {
    return false;  // a directory, or unreadable: not this format
  }
}

std::unique_ptr<Reader> open(const std::string& path) {
  return std::make_unique<ClassicReader>(path);
}

}  // namespace chunkwise::netcdf3
