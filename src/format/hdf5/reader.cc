#include "format/hdf5/reader.h"

#include <algorithm>
#include <map>
#include <set>

#include "format/hdf5/element_access.h"
#include "format/hdf5/elsewhere.h"
#include "format/hdf5/first_look.h"
#include "format/hdf5/format.h"
#include "format/hdf5/native.h"
#include "format/hdf5/source.h"

namespace chunkwise::hdf5 {
namespace {

std::string join(const std::string& group, const std::string& name) {
  return (group == "/" ? "" : group) + "/" + name;
}

/// Turns the records of a file into a Hierarchy.
class TreeBuilder {
 public:
  TreeBuilder(std::shared_ptr<File> file, FileRecords records)
      : file_(std::move(file)), records_(std::move(records)), is_netcdf_(records_.is_netcdf) {}

  Hierarchy build() {
    index_scales();
    add_root_facts();
    for (GroupRecord& group : records_.groups) add_group(group);
    for (const DatasetRecord& dataset : records_.datasets)
      if (!dataset.axes.is_dimension_only) array_paths_.insert(dataset.path);
    for (DatasetRecord& dataset : records_.datasets)
      if (!dataset.axes.is_dimension_only) add_array(dataset);
    for (TypeRecord& type : records_.types) add_type(type);
    tree_.links = std::move(records_.links);
    tree_.unsupported = std::move(records_.unsupported);
    grow_unlimited();
    return std::move(tree_);
  }

 private:
  /// Where the dimension of a scale stands in the tree.
  struct Place {
    std::size_t group = 0;
    std::size_t dimension = 0;
  };

  void index_scales() {
    for (const DatasetRecord& dataset : records_.datasets) {
      if (!dataset.axes.is_scale) continue;
      scale_at_.emplace(dataset.address, &dataset);
      if (dataset.axes.dimension_id) scale_with_id_.emplace(*dataset.axes.dimension_id, &dataset);
      scales_of_[parent_path(dataset.path)].push_back(&dataset);
    }
  }

  void add_root_facts() {
    tree_.format = is_netcdf_ ? "nc4" : "h5";
    tree_.classic_model = records_.classic_model;
    auto native = std::make_shared<FileNative>();
    native->file = file_;
    native->has_large_attributes = records_.has_large_attributes;
    tree_.native = std::move(native);
  }

  void add_group(GroupRecord& record) {
    GroupNode node;
    auto native = std::make_shared<GroupNative>();
    native->file = file_;
    native->address = record.address;
    std::vector<const DatasetRecord*>& scales = scales_of_[record.path];
    // Dimension ids tell the order in which netCDF defined the dimensions.
    if (std::all_of(scales.begin(), scales.end(),
                    [](const auto* scale) { return scale->axes.dimension_id.has_value(); }))
      std::stable_sort(scales.begin(), scales.end(),
                       [](const auto* a, const auto* b) { return *a->axes.dimension_id < *b->axes.dimension_id; });
    for (const DatasetRecord* scale : scales) {
      native->scales.push_back({base_name(scale->path), scale->path, scale->address, scale->order,
                                !scale->axes.is_dimension_only, scale->axes.dimension_id});
      place_of_.emplace(scale->address, Place{tree_.groups.size(), node.dimensions.size()});
      node.dimensions.push_back({base_name(scale->path), scale->meta.shape[0], scale->meta.max_shape[0] == kUnlimited});
    }
    node.path = record.path;
    node.attributes = marked(std::move(record.attributes));
    node.order = record.order;
    node.native = std::move(native);
    tree_.groups.push_back(std::move(node));
  }

  /// The scale that names axis `axis`, or null.
  const DatasetRecord* scale_of(const DatasetRecord& dataset, int axis) const {
    const AxisBooks& books = dataset.axes;
    const auto at = static_cast<std::size_t>(axis);
    if (at < books.scales.size()) {
      if (const auto found = scale_at_.find(books.scales[at]); found != scale_at_.end()) return found->second;
    }
    if (is_netcdf_ && books.coordinates.size() == static_cast<std::size_t>(dataset.meta.shape.rank())) {
      if (const auto found = scale_with_id_.find(books.coordinates[at]); found != scale_with_id_.end())
        return found->second;
    }
    return books.is_scale && axis == 0 ? &dataset : nullptr;
  }

  void add_array(DatasetRecord& record) {
    ArrayNode node;
    auto native = std::make_shared<ArrayNative>();
    native->file = file_;
    native->path = record.path;
    native->address = record.address;
    native->null_space = record.null_space;
    native->other_files = std::move(record.other_files);
    tree_.is_self_contained = tree_.is_self_contained && native->other_files.empty();
    name_axes(record);
    record.meta.path = shown_path(record.path);
    native->meta = record.meta;
    node.meta = std::move(record.meta);
    node.attributes = marked(std::move(record.attributes));
    node.order = record.order;
    node.native = std::move(native);
    tree_.arrays.push_back(std::move(node));
  }

  void add_type(TypeRecord& record) {
    auto native = std::make_shared<TypeNative>();
    native->file = file_;
    native->address = record.address;
    tree_.types.push_back({std::move(record.path), std::move(record.dtype), marked(std::move(record.attributes)),
                           record.order, std::move(native), record.byte_order});
  }

  /// The attributes as those of the file.
  std::vector<Attribute> marked(std::vector<Attribute>&& attributes) const {
    for (Attribute& attribute : attributes) attribute.native = attribute_mark_;
    return std::move(attributes);
  }

  void name_axes(DatasetRecord& record) {
    if (record.null_space) return;
    ArrayMeta& meta = record.meta;
    std::vector<std::string> dims(static_cast<std::size_t>(meta.shape.rank()));
    for (int axis = 0; axis < meta.shape.rank(); ++axis) {
      std::string& dim = dims[static_cast<std::size_t>(axis)];
      if (const DatasetRecord* scale = scale_of(record, axis)) {
        dim = base_name(scale->path);
        used_lengths_.push_back({scale->address, meta.shape[axis]});
      } else if (!record.axes.labels.empty()) {
        dim = record.axes.labels[static_cast<std::size_t>(axis)];
      }
    }
    if (std::any_of(dims.begin(), dims.end(), [](const std::string& dim) { return !dim.empty(); }))
      meta.dims = std::move(dims);
  }

  /// A variable called like a dimension that is not its coordinate carries a prefix in netCDF-4 files.
  std::string shown_path(const std::string& path) {
    const std::string name = base_name(path);
    if (!is_netcdf_ || !name.starts_with(kNonCoordinatePrefix)) return path;
    std::string shown = join(parent_path(path), name.substr(kNonCoordinatePrefix.size()));
    return array_paths_.insert(shown).second ? shown : path;
  }

  /// An unlimited dimension is as long as the longest array along it; its scale alone may be shorter.
  void grow_unlimited() {
    for (const auto& [address, length] : used_lengths_) {
      const auto place = place_of_.find(address);
      if (place == place_of_.end()) continue;
      Dimension& dimension = tree_.groups[place->second.group].dimensions[place->second.dimension];
      if (dimension.unlimited) dimension.length = std::max(dimension.length, length);
    }
  }

  struct UsedLength {
    haddr_t scale = HADDR_UNDEF;
    Index length = 0;
  };

  std::shared_ptr<File> file_;
  const std::shared_ptr<const Native> attribute_mark_ = std::make_shared<AttributeNative>();
  FileRecords records_;
  bool is_netcdf_;
  Hierarchy tree_;
  std::map<haddr_t, const DatasetRecord*> scale_at_;
  std::map<int, const DatasetRecord*> scale_with_id_;
  std::map<std::string, std::vector<const DatasetRecord*>> scales_of_;
  std::map<haddr_t, Place> place_of_;
  std::vector<UsedLength> used_lengths_;
  std::set<std::string> array_paths_;
};

}  // namespace

Hierarchy to_tree(std::shared_ptr<File> file, FileRecords records) {
  return TreeBuilder(std::move(file), std::move(records)).build();
}

Hdf5Reader::Hdf5Reader(std::shared_ptr<File> file, FileRecords records, std::vector<bool> located)
    : file_(std::move(file)), located_(std::move(located)), tree_(to_tree(file_, std::move(records))) {
  for (std::size_t i = 0; i < tree_.arrays.size(); ++i) index_of_.emplace(tree_.arrays[i].meta.path, i);
}

ElementPlace Hdf5Reader::place(const std::string& path) const {
  const auto found = index_of_.find(path);
  CHUNKWISE_CHECK(found != index_of_.end());
  const ArrayNode& node = tree_.arrays[found->second];
  const auto& native = dynamic_cast<const ArrayNative&>(*node.native);
  const bool lies_elsewhere = native.meta.storage == Storage::virtual_ || native.has_raw_files();
  return {file_, native.path, node.meta, lies_elsewhere};
}

namespace {

Hid open_dataset(const ElementPlace& at) {
  const Lock lock;
  const Hid access = owned(lock, H5Pcreate(H5P_DATASET_ACCESS), "cannot create a property list", Code::internal);
  return open_with_others(lock, *at.file, at.path, access);
}

}  // namespace

void Hdf5Reader::find_elements(const std::string& path) const {
  if (const ElementPlace at = place(path); at.lies_elsewhere) open_dataset(at);
}

std::unique_ptr<ArraySource> Hdf5Reader::open_array(const std::string& path) const {
  const ElementPlace at = place(path);
  const std::size_t index = index_of_.at(path);
  Hid dataset = open_dataset(at);
  if (at.lies_elsewhere) return make_elsewhere_source(file_, std::move(dataset), at.meta);
  const bool is_located = located_.empty() || (index < located_.size() && located_[index]);
  return make_source(file_, std::move(dataset), at.meta, is_located ? Locate::here : Locate::in_child);
}

std::unique_ptr<ElementSource> Hdf5Reader::open_elements(const std::string& path, std::uint64_t most_bytes) const {
  return open_element_source(place(path), most_bytes);
}

void Hdf5Reader::compare_elements(const std::string& path, const Reader& copy, const ElementWork& work) const {
  const auto* other = dynamic_cast<const Hdf5Reader*>(&copy);
  CHUNKWISE_CHECK(other != nullptr);
  hdf5::compare_elements(place(path), object_paths(), other->place(path), other->object_paths(), work);
}

ObjectPaths Hdf5Reader::object_paths() const {
  ObjectPaths paths;
  for (const GroupNode& group : tree_.groups) {
    const auto& native = dynamic_cast<const GroupNative&>(*group.native);
    paths.emplace(native.address, group.path);
    for (const ScaleNative& scale : native.scales) paths.emplace(scale.address, scale.path);
  }
  for (const ArrayNode& array : tree_.arrays) {
    const auto& native = dynamic_cast<const ArrayNative&>(*array.native);
    paths.emplace(native.address, native.path);
  }
  for (const TypeNode& type : tree_.types)
    paths.emplace(dynamic_cast<const TypeNative&>(*type.native).address, type.path);
  return paths;
}

std::unique_ptr<Reader> open(const std::string& path) {
  FirstLook look = first_look(path, LookAt::everything);
  return std::make_unique<Hdf5Reader>(File::open(path), std::move(look.records), std::move(look.located));
}

Hierarchy describe(const std::string& path) {
  return to_tree(nullptr, first_look(path, LookAt::metadata).records);
}

}  // namespace chunkwise::hdf5
