#include <algorithm>
#include <array>
#include <map>

#include "format/hdf5/adapt_parts.h"
#include "format/hdf5/attributes.h"
#include "format/hdf5/element_access.h"
#include "format/hdf5/pipeline.h"
#include "format/hdf5/scales.h"
#include "format/hdf5/types.h"
#include "format/hdf5/writer.h"

#include <fmt/format.h>

namespace chunkwise::hdf5 {
namespace {

constexpr unsigned kOrderKept = H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED;

std::string join(const std::string& group, const std::string& name) {
  return (group == "/" ? "" : group) + "/" + name;
}

void check_list(const Lock& lock, herr_t result) {
  checked(lock, result, "cannot set a creation property", Code::internal);
}

Hid make_dcpl(const Lock& lock) {
  Hid list = owned(lock, H5Pcreate(H5P_DATASET_CREATE), "cannot create a property list", Code::internal);
  check_list(lock, H5Pset_attr_creation_order(list.get(), kOrderKept));
  check_list(lock, H5Pset_obj_track_times(list.get(), false));
  return list;
}

Hid make_space(const Lock& lock, const Shape& shape, const Shape& max_shape) {
  if (shape.rank() == 0) return owned(lock, H5Screate(H5S_SCALAR), "cannot create a dataspace", Code::internal);
  std::array<hsize_t, H5S_MAX_RANK> dims{};
  std::array<hsize_t, H5S_MAX_RANK> maxdims{};
  for (int axis = 0; axis < shape.rank(); ++axis) {
    dims[static_cast<std::size_t>(axis)] = static_cast<hsize_t>(shape[axis]);
    maxdims[static_cast<std::size_t>(axis)] =
        max_shape[axis] == kUnlimited ? H5S_UNLIMITED : static_cast<hsize_t>(max_shape[axis]);
  }
  return owned(lock, H5Screate_simple(shape.rank(), dims.data(), maxdims.data()), "cannot create a dataspace",
               Code::internal);
}

void set_layout(const Lock& lock, hid_t dcpl, const ArrayMeta& meta) {
  if (meta.storage == Storage::chunked) {
    std::array<hsize_t, H5S_MAX_RANK> chunk{};
    std::transform(meta.chunk.begin(), meta.chunk.end(), chunk.begin(),
                   [](Index n) { return static_cast<hsize_t>(n); });
    checked(lock, H5Pset_chunk(dcpl, meta.chunk.rank(), chunk.data()), "cannot set the chunks of " + meta.path,
            Code::unsupported);
    if (meta.raw_edges) check_list(lock, H5Pset_chunk_opts(dcpl, H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS));
    set_filters(lock, dcpl, meta);
    return;
  }
  check_list(lock, H5Pset_layout(dcpl, meta.storage == Storage::compact ? H5D_COMPACT : H5D_CONTIGUOUS));
}

/// Writes one file.
class NeutralWrite {
 public:
  NeutralWrite(const Lock& lock, const std::string& path, const Hierarchy& tree, bool netcdf, const KeptRanges* kept)
      : lock_(lock), tree_(tree), style_(netcdf ? AttributeStyle::netcdf : AttributeStyle::hdf5) {
    const Hid fcpl = owned(lock_, H5Pcreate(H5P_FILE_CREATE), "cannot create a property list", Code::internal);
    check_list(lock_, H5Pset_link_creation_order(fcpl.get(), kOrderKept));
    check_list(lock_, H5Pset_attr_creation_order(fcpl.get(), kOrderKept));
    CreateOptions options;
    options.libver_low = H5F_LIBVER_V18;
    options.fcpl = fcpl.get();
    options.metadata_block_bytes = metadata_block_bytes(tree);
    options.kept = kept;
    file_ = File::create(path, options);
  }

  std::unique_ptr<Hdf5Writer> run() {
    number_dimensions();
    for (const GroupNode& group : tree_.groups)
      if (group.path != "/") create_group(group.path);
    for (const TypeNode& type : tree_.types) commit(type);
    for (const GroupNode& group : tree_.groups) create_placeholders(group);
    std::vector<const ArrayNode*> arrays;
    for (const ArrayNode& node : tree_.arrays) arrays.push_back(&node);
    std::stable_sort(arrays.begin(), arrays.end(), [](const auto* a, const auto* b) { return a->order < b->order; });
    for (const ArrayNode* node : arrays) create_array(*node);
    attach_scales();
    write_group_attributes();
    return std::make_unique<Hdf5Writer>(file_, std::move(targets_));
  }

 private:
  /// A dimension: its id, and the scale that stands for it.
  struct Scale {
    int id = 0;
    const Dimension* dimension = nullptr;
    std::string path;
    bool has_variable = false;
    std::vector<ScaleUse> uses;
  };
  /// The group that defines it, its name.
  using Key = std::pair<std::string, std::string>;

  void number_dimensions() {
    for (const GroupNode& group : tree_.groups)
      for (const Dimension& dimension : group.dimensions) {
        const int id = static_cast<int>(scales_.size());
        scales_[{group.path, dimension.name}] = {id, &dimension, join(group.path, dimension.name), false, {}};
      }
    for (const ArrayNode& node : tree_.arrays)
      if (Scale* own = own_scale(node.meta)) own->has_variable = true;
  }

  /// The dimension an axis lies along, or null.
  Scale* find_scale(const ArrayMeta& meta, int axis) {
    const std::string& name = meta.dims[static_cast<std::size_t>(axis)];
    for (std::string at = parent_path(meta.path);; at = parent_path(at)) {
      const auto found = scales_.find(Key{at, name});
      if (found != scales_.end() && suits(*found->second.dimension, meta.shape[axis])) return &found->second;
      if (at == "/") return nullptr;
    }
  }

  /// The dimension of which the array is the coordinate variable: same group, same name, its first axis.
  Scale* own_scale(const ArrayMeta& meta) {
    const std::string name = base_name(meta.path);
    if (meta.dims.empty() || meta.dims[0] != name) return nullptr;
    const auto found = scales_.find(Key{parent_path(meta.path), name});
    return found == scales_.end() || !suits(*found->second.dimension, meta.shape[0]) ? nullptr : &found->second;
  }

  Hid create_group(const std::string& path) {
    const Hid gcpl = owned(lock_, H5Pcreate(H5P_GROUP_CREATE), "cannot create a property list", Code::internal);
    check_list(lock_, H5Pset_link_creation_order(gcpl.get(), kOrderKept));
    check_list(lock_, H5Pset_attr_creation_order(gcpl.get(), kOrderKept));
    check_list(lock_, H5Pset_obj_track_times(gcpl.get(), false));
    const Hid naming = naming_list(lock_, H5P_LINK_CREATE, base_name(path));
    return owned(lock_, H5Gcreate2(file_->id(), path.c_str(), naming.get(), gcpl.get(), H5P_DEFAULT),
                 "cannot create the group " + path, Code::io);
  }

  Hid create_dataset(const std::string& path, const Hid& type, const Hid& space, const Hid& dcpl) {
    const Hid naming = naming_list(lock_, H5P_LINK_CREATE, base_name(path));
    Hid dataset = owned(
        lock_, H5Dcreate2(file_->id(), path.c_str(), type.get(), space.get(), naming.get(), dcpl.get(), H5P_DEFAULT),
        "cannot create the dataset " + path, Code::io);
    try {
      check_filters(lock_, dataset.get(), dcpl.get());
    } catch (Error& error) {
      throw error.in(path);
    }
    return dataset;
  }

  void commit(const TypeNode& node) {
    const std::string what = "cannot store the type " + node.path;
    Hid type = make_type(lock_, node.dtype, node.byte_order);
    const Hid naming = naming_list(lock_, H5P_LINK_CREATE, base_name(node.path));
    const Hid tcpl = owned(lock_, H5Pcreate(H5P_DATATYPE_CREATE), "cannot create a property list", Code::internal);
    checked(lock_, H5Tcommit2(file_->id(), node.path.c_str(), type.get(), naming.get(), tcpl.get(), H5P_DEFAULT), what,
            Code::io);
    types_.emplace(node.path, std::move(type));
  }

  /// Arrays and attributes of netCDF have equal types without a name.
  Hid type_of(const ArrayMeta& meta) {
    const auto named = types_.find(meta.dtype.named);
    if (named == types_.end() || style_ == AttributeStyle::netcdf)
      return make_type(lock_, meta.dtype, meta.layout.byte_order);
    checked(lock_, H5Iinc_ref(named->second.get()), "cannot share a datatype", Code::internal);
    return Hid(named->second.get());
  }

  /// Dimensions without a variable.
  void create_placeholders(const GroupNode& group) {
    for (const Dimension& dimension : group.dimensions) {
      const Scale& scale = scales_.at({group.path, dimension.name});
      if (scale.has_variable) continue;
      const Hid dcpl = make_dcpl(lock_);
      const Shape max_shape{dimension.unlimited ? kUnlimited : dimension.length};
      if (dimension.unlimited) {
        const hsize_t one = 1;
        check_list(lock_, H5Pset_chunk(dcpl.get(), 1, &one));
      }
      const Hid type = owned(lock_, H5Tcopy(H5T_IEEE_F32BE), "cannot copy a datatype", Code::internal);
      const Hid dataset = create_dataset(scale.path, type, make_space(lock_, Shape{dimension.length}, max_shape), dcpl);
      write_scale(lock_, dataset.get(), fmt::format("{}{:10}", kDimensionOnly, dimension.length));
      write_ids(lock_, dataset.get(), "_Netcdf4Dimid", {scale.id}, true);
    }
  }

  void create_array(const ArrayNode& node) {
    const ArrayMeta& meta = node.meta;
    const std::string group = parent_path(meta.path);
    const std::string name = base_name(meta.path);
    Scale* const own = own_scale(meta);
    // The dimension has taken the name.
    const bool hides = own == nullptr && scales_.contains(Key{group, name});
    const std::string path = hides ? join(group, std::string(kNonCoordinatePrefix) + name) : meta.path;

    const Hid dcpl = make_dcpl(lock_);
    const Hid type = meta.dtype.kind == DType::Kind::string
                         ? make_string_type(lock_, 0, H5T_STR_NULLTERM, !meta.ascii_texts)
                         : type_of(meta);
    set_layout(lock_, dcpl.get(), meta);
    if (meta.dtype.is_varying()) {
      set_varying_fill(lock_, dcpl.get(), type.get(), meta);
    } else if (!meta.fill.empty()) {
      CHUNKWISE_CHECK(meta.fill.size() == meta.dtype.bytes);
      check_list(lock_, H5Pset_fill_value(dcpl.get(), type.get(), meta.fill.data()));
    }
    const Hid dataset = create_dataset(path, type, make_space(lock_, meta.shape, meta.max_shape), dcpl);
    if (own != nullptr) {
      write_scale(lock_, dataset.get(), name);
      write_ids(lock_, dataset.get(), "_Netcdf4Dimid", {own->id}, true);
    }
    try {
      for (const Attribute& attribute : node.attributes)
        write_attribute(lock_, dataset.get(), attribute, style_, types_);
    } catch (Error& error) {
      throw error.in(meta.path);
    }
    note_axes(meta, path, own != nullptr, dataset.get());
    targets_[meta.path] = {path, meta};
  }

  /// Remembers which scales the axes of a new dataset use.
  void note_axes(const ArrayMeta& meta, const std::string& path, bool is_scale, hid_t dataset) {
    std::vector<std::string> paths;
    std::vector<int> ids;
    for (int axis = 0; axis < static_cast<int>(meta.dims.size()); ++axis) {
      Scale* const scale = find_scale(meta, axis);
      paths.push_back(scale == nullptr ? "" : scale->path);
      if (scale == nullptr) continue;
      ids.push_back(scale->id);
      // A scale does not have scales itself.
      if (!is_scale) scale->uses.push_back({path, axis});
    }
    if (ids.empty()) return;
    if (ids.size() == meta.dims.size()) write_ids(lock_, dataset, "_Netcdf4Coordinates", ids, false);
    if (!is_scale) axes_of_.push_back({path, std::move(paths)});
  }

  /// References hold addresses, so they come when all objects stand.
  void attach_scales() {
    for (const auto& [path, scale_paths] : axes_of_)
      write_dimension_list(lock_, file_->id(), open(path).get(), scale_paths);
    for (const auto& [key, scale] : scales_)
      if (!scale.uses.empty()) write_reference_list(lock_, file_->id(), open(scale.path).get(), scale.uses);
  }

  Hid open(const std::string& path) {
    return owned(lock_, H5Oopen(file_->id(), path.c_str(), H5P_DEFAULT), "cannot open " + path, Code::internal);
  }

  void write_group_attributes() {
    if (tree_.classic_model) write_ids(lock_, open("/").get(), "_nc3_strict", {1}, true);
    for (const GroupNode& group : tree_.groups) {
      const Hid object = open(group.path);
      try {
        for (const Attribute& attribute : group.attributes)
          write_attribute(lock_, object.get(), attribute, style_, types_);
      } catch (Error& error) {
        throw error.in(group.path);
      }
    }
  }

  const Lock& lock_;
  const Hierarchy& tree_;
  AttributeStyle style_;
  std::shared_ptr<File> file_;
  std::map<Key, Scale> scales_;
  NamedTypes types_;
  std::vector<std::pair<std::string, std::vector<std::string>>> axes_of_;
  std::map<std::string, Hdf5Writer::Target> targets_;
};

}  // namespace

std::unique_ptr<Hdf5Writer> write_neutral(const std::string& path, const Hierarchy& tree, bool netcdf,
                                          const KeptRanges* kept) {
  const Lock lock;
  return NeutralWrite(lock, path, tree, netcdf, kept).run();
}

}  // namespace chunkwise::hdf5
