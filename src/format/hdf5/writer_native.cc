#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <set>

#include "format/hdf5/array_meta.h"
#include "format/hdf5/attribute_copy.h"
#include "format/hdf5/attributes.h"
#include "format/hdf5/committed_types.h"
#include "format/hdf5/elsewhere.h"
#include "format/hdf5/filter.h"
#include "format/hdf5/pipeline.h"
#include "format/hdf5/scales.h"
#include "format/hdf5/shared_messages.h"
#include "format/hdf5/types.h"
#include "format/hdf5/writer.h"
#include "store/store.h"

namespace chunkwise::hdf5 {
namespace {

void set(const Lock& lock, herr_t result) {
  checked(lock, result, "cannot set a creation property", Code::internal);
}

/// Orders and thresholds of a group's links and attributes, and whether it has times. One by one: the list that a group
/// returns also carries where its links lie in the source, and a group made with it would look for them there.
void copy_group_properties(const Lock& lock, hid_t from, hid_t to) {
  constexpr const char* kWhat = "cannot read the properties of a group";
  unsigned a = 0;
  unsigned b = 0;
  checked(lock, H5Pget_link_creation_order(from, &a), kWhat);
  set(lock, H5Pset_link_creation_order(to, a));
  checked(lock, H5Pget_link_phase_change(from, &a, &b), kWhat);
  set(lock, H5Pset_link_phase_change(to, a, b));
  checked(lock, H5Pget_attr_creation_order(from, &a), kWhat);
  set(lock, H5Pset_attr_creation_order(to, a));
  checked(lock, H5Pget_attr_phase_change(from, &a, &b), kWhat);
  set(lock, H5Pset_attr_phase_change(to, a, b));
  hbool_t track_times = 0;
  checked(lock, H5Pget_obj_track_times(from, &track_times), kWhat);
  set(lock, H5Pset_obj_track_times(to, track_times));
}

/// The creation list of a file like the source. The library keeps what concerns the root group in the group's own list.
Hid file_creation_list(const Lock& lock, hid_t source) {
  constexpr const char* kWhat = "cannot read the file's properties";
  Hid fcpl = owned(lock, H5Fget_create_plist(source), kWhat);
  const Hid root = owned(lock, H5Gopen2(source, "/", H5P_DEFAULT), "cannot open the root group");
  const Hid gcpl = owned(lock, H5Gget_create_plist(root.get()), kWhat);
  copy_group_properties(lock, gcpl.get(), fcpl.get());
  return fcpl;
}

/// The creation list of a group like `source`.
Hid group_creation_list(const Lock& lock, hid_t source) {
  constexpr const char* kWhat = "cannot read the properties of a group";
  const Hid from = owned(lock, H5Gget_create_plist(source), kWhat);
  Hid to = owned(lock, H5Pcreate(H5P_GROUP_CREATE), kWhat);
  copy_group_properties(lock, from.get(), to.get());
  unsigned n_links = 0;
  unsigned name_bytes = 0;
  checked(lock, H5Pget_est_link_info(from.get(), &n_links, &name_bytes), kWhat);
  set(lock, H5Pset_est_link_info(to.get(), n_links, name_bytes));
  std::size_t heap_bytes = 0;
  checked(lock, H5Pget_local_heap_size_hint(from.get(), &heap_bytes), kWhat);
  set(lock, H5Pset_local_heap_size_hint(to.get(), heap_bytes));
  return to;
}

std::shared_ptr<File> create_like(const Lock& lock, const std::string& path, const Hierarchy& tree,
                                  const FileNative& source, const KeptRanges* kept) {
  const Hid fcpl = file_creation_list(lock, source.file->id());
  CreateOptions options;
  options.fcpl = fcpl.get();
  options.libver_low = source.file->libver_low();
  if (source.has_large_attributes) options.libver_low = std::max(options.libver_low, H5F_LIBVER_V18);
  options.metadata_block_bytes = metadata_block_bytes(tree);
  options.kept = kept;
  options.userblock.resize(static_cast<std::size_t>(source.file->userblock_bytes()));
  if (!options.userblock.empty()) source.file->object().read(0, options.userblock.span());
  return File::create(path, options);
}

/// True if the pipeline, chunks and storage of `meta` are those the creation list of the source has.
bool same_chunks(const ArrayMeta& a, const ArrayMeta& b) {
  return a.storage == b.storage && a.chunk == b.chunk;
}

/// Makes the filters of a creation list acceptable to H5Dcreate.
void know_filters(const Lock& lock, hid_t dcpl) {
  const int n_filters = checked(lock, H5Pget_nfilters(dcpl), "cannot read the filters");
  for (unsigned i = 0; i < static_cast<unsigned>(n_filters); ++i) {
    std::array<char, 256> label{};
    unsigned flags = 0;
    std::size_t n_values = 0;
    const int id =
        checked(lock, H5Pget_filter2(dcpl, i, &flags, &n_values, nullptr, label.size() - 1, label.data(), nullptr),
                "cannot read a filter");
    make_filter_known(lock, id, label.data());
  }
}

/// Changes the creation list of a source dataset where `meta` wants another layout than `old`.
void set_layout(const Lock& lock, hid_t dcpl, const ArrayMeta& old, const ArrayMeta& meta) {
  if (meta.storage != old.storage) {
    // The allocation time a layout has by itself does not suit another layout.
    H5D_alloc_time_t time = H5D_ALLOC_TIME_DEFAULT;
    checked(lock, H5Pget_alloc_time(dcpl, &time), "cannot read the allocation time");
    const bool by_chunks = old.storage == Storage::chunked || old.storage == Storage::virtual_;
    const H5D_alloc_time_t own = by_chunks                         ? H5D_ALLOC_TIME_INCR
                                 : old.storage == Storage::compact ? H5D_ALLOC_TIME_EARLY
                                                                   : H5D_ALLOC_TIME_LATE;
    if (old.storage == Storage::chunked) {
      set(lock, H5Premove_filter(dcpl, H5Z_FILTER_ALL));
      set(lock, H5Pset_chunk_opts(dcpl, 0));
    }
    set(lock, H5Pset_layout(dcpl, meta.storage == Storage::chunked   ? H5D_CHUNKED
                                  : meta.storage == Storage::compact ? H5D_COMPACT
                                                                     : H5D_CONTIGUOUS));
    if (time == own) set(lock, H5Pset_alloc_time(dcpl, H5D_ALLOC_TIME_DEFAULT));
  }
  if (meta.storage != Storage::chunked) return;
  if (!same_chunks(old, meta)) {
    std::array<hsize_t, H5S_MAX_RANK> chunk{};
    std::transform(meta.chunk.begin(), meta.chunk.end(), chunk.begin(),
                   [](Index n) { return static_cast<hsize_t>(n); });
    checked(lock, H5Pset_chunk(dcpl, meta.chunk.rank(), chunk.data()), "cannot set the chunks of " + meta.path,
            Code::unsupported);
  }
  if (meta.raw_edges != old.raw_edges || meta.storage != old.storage)
    set(lock, H5Pset_chunk_opts(dcpl, meta.raw_edges ? H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS : 0u));
  // Of chunks that stay, nothing may change: what we would write in a parameter may not be what others did.
  if (meta.codecs != old.codecs || !same_chunks(old, meta)) set_filters(lock, dcpl, meta);
}

/// Copies one file.
class NativeWrite {
 public:
  NativeWrite(const Lock& lock, const std::string& path, const Hierarchy& tree, const FileNative& source,
              const KeptRanges* kept)
      : lock_(lock),
        tree_(tree),
        source_(source.file),
        file_(create_like(lock, path, tree, source, kept)),
        types_(lock, source_->id(), file_->id()),
        shares_(shares_messages(lock, source_->id())),
        objects_(*source_, file_->id()) {}

  std::unique_ptr<Hdf5Writer> run() {
    for (const ArrayNode& node : tree_.arrays) plan_array(node);
    for (const GroupNode& group : tree_.groups) plan_group(group);
    for (const TypeNode& type : tree_.types) plan_type(type);
    for (const LinkNode& link : tree_.links) steps_.push_back({link.order, [this, &link] { create_link(link); }});
    std::stable_sort(steps_.begin(), steps_.end(), [](const Step& a, const Step& b) { return a.order < b.order; });
    for (const Step& step : steps_) step.run();
    // References hold addresses, so attributes come when all objects stand.
    for (const auto& write : attribute_writes_) write();
    auto writer = std::make_unique<Hdf5Writer>(file_, std::move(targets_));
    writer->keep_objects(std::move(objects_));
    return writer;
  }

 private:
  struct Step {
    std::uint64_t order = 0;
    std::function<void()> run;
  };

  static const GroupNative& native_of(const GroupNode& group) {
    const auto* native = dynamic_cast<const GroupNative*>(group.native.get());
    CHUNKWISE_CHECK(native != nullptr);
    return *native;
  }

  void plan_group(const GroupNode& group) {
    const GroupNative& native = native_of(group);
    if (group.path == "/")
      objects_.add(native.address, "/");
    else
      steps_.push_back({group.order, [this, &group, &native] { create_group(group.path, native.address); }});
    attribute_writes_.push_back([this, &group] { write_attributes(group.path, group.path, &group.attributes); });
    for (const ScaleNative& scale : native.scales)
      if (needs_placeholder(group, scale)) steps_.push_back({scale.order, [this, &scale] { create_dimension(scale); }});
  }

  /// A dimension that is no array of the target, because it never was one or because its variable was left out.
  bool needs_placeholder(const GroupNode& group, const ScaleNative& scale) const {
    if (array_paths_.contains(scale.path)) return false;
    if (scale.is_array && tree_.format != "nc4") return false;
    return std::any_of(group.dimensions.begin(), group.dimensions.end(),
                       [&](const Dimension& dimension) { return dimension.name == scale.name; });
  }

  void plan_array(const ArrayNode& node) {
    const auto* native = dynamic_cast<const ArrayNative*>(node.native.get());
    CHUNKWISE_CHECK(native != nullptr);
    steps_.push_back({node.order, [this, &node, native] { create_array(node, *native); }});
    attribute_writes_.push_back(
        [this, &node, native] { write_attributes(native->path, node.meta.path, &node.attributes); });
    targets_[node.meta.path] = {native->path, node.meta};
    array_paths_.insert(native->path);
  }

  void plan_type(const TypeNode& node) {
    const auto* native = dynamic_cast<const TypeNative*>(node.native.get());
    CHUNKWISE_CHECK(native != nullptr);
    steps_.push_back({node.order, [this, &node, native] { create_type(node.path, native->address); }});
    attribute_writes_.push_back([this, &node] { write_attributes(node.path, node.path, &node.attributes); });
  }

  Hid space_of(hid_t from, const std::string& path) {
    const Hid space = owned(lock_, H5Dget_space(from), "cannot read the dataspace of " + path);
    return fresh_space(lock_, space.get());
  }

  Hid creation_list_of(hid_t from, const Hid& type, const std::string& path) {
    Hid dcpl = owned(lock_, H5Dget_create_plist(from), "cannot read the properties of " + path);
    return shares_ ? fresh_creation_list(lock_, dcpl.get(), type.get()) : std::move(dcpl);
  }

  Hid open_source(const std::string& path) {
    return owned(lock_, H5Oopen(source_->id(), path.c_str(), H5P_DEFAULT), "cannot open " + path);
  }

  /// How the link to the source object is named: its character set.
  Hid link_creation_list(const std::string& path) {
    Hid list = owned(lock_, H5Pcreate(H5P_LINK_CREATE), "cannot create a property list", Code::internal);
    H5L_info_t info;
    checked(lock_, H5Lget_info(source_->id(), path.c_str(), &info, H5P_DEFAULT), "cannot read the link " + path);
    set(lock_, H5Pset_char_encoding(list.get(), info.cset));
    return list;
  }

  void copy_comment(hid_t from, hid_t to) {
    const ssize_t length = H5Oget_comment(from, nullptr, 0);
    if (length <= 0) return;
    std::vector<char> comment(static_cast<std::size_t>(length) + 1);
    checked(lock_, H5Oget_comment(from, comment.data(), comment.size()), "cannot read a comment");
    checked(lock_, H5Oset_comment(to, comment.data()), "cannot write a comment", Code::io);
  }

  void create_group(const std::string& path, haddr_t address) {
    const Hid from = open_source(path);
    const Hid gcpl = group_creation_list(lock_, from.get());
    const Hid to =
        owned(lock_, H5Gcreate2(file_->id(), path.c_str(), link_creation_list(path).get(), gcpl.get(), H5P_DEFAULT),
              "cannot create the group " + path, Code::io);
    copy_comment(from.get(), to.get());
    objects_.add(address, path);
  }

  void create_type(const std::string& path, haddr_t address) {
    const Hid from = open_source(path);
    const Hid to = types_.in_target(lock_, from.get());
    checked(lock_, H5Olink(to.get(), file_->id(), path.c_str(), link_creation_list(path).get(), H5P_DEFAULT),
            "cannot name the type " + path, Code::io);
    copy_comment(from.get(), to.get());
    objects_.add(address, path);
  }

  void create_dataset(const std::string& path, hid_t from, const Hid& type, const Hid& space, const Hid& dcpl) {
    know_filters(lock_, dcpl.get());
    const Hid to = owned(lock_,
                         H5Dcreate2(file_->id(), path.c_str(), type.get(), space.get(), link_creation_list(path).get(),
                                    dcpl.get(), H5P_DEFAULT),
                         "cannot create the dataset " + path, Code::io);
    try {
      check_filters(lock_, to.get(), dcpl.get());
    } catch (Error& error) {
      throw error.in(path);
    }
    copy_comment(from, to.get());
  }

  void create_array(const ArrayNode& node, const ArrayNative& native) {
    const Hid from = open_source(native.path);
    const Hid own_type = owned(lock_, H5Dget_type(from.get()), "cannot read the type of " + native.path);
    const Hid type = types_.in_target(lock_, own_type.get());
    const Hid space = space_of(from.get(), native.path);
    Hid dcpl = creation_list_of(from.get(), own_type, native.path);
    if (native.has_raw_files()) dcpl = without_raw_files(lock_, dcpl.get(), type.get());
    if (!native.null_space) {
      set_layout(lock_, dcpl.get(), native.meta, node.meta);
      if (node.meta.fill != native.meta.fill)
        set(lock_, H5Pset_fill_value(dcpl.get(), type.get(), node.meta.fill.empty() ? nullptr : node.meta.fill.data()));
    }
    create_dataset(native.path, from.get(), type, space, dcpl);
    objects_.add(native.address, native.path);
  }

  void create_dimension(const ScaleNative& scale) {
    const Hid from = open_source(scale.path);
    const Hid own_type = owned(lock_, H5Dget_type(from.get()), "cannot read the type of " + scale.path);
    Hid space = space_of(from.get(), scale.path);
    Hid dcpl = creation_list_of(from.get(), own_type, scale.path);
    if (!scale.is_array) {
      create_dataset(scale.path, from.get(), types_.in_target(lock_, own_type.get()), space, dcpl);
      attribute_writes_.push_back([this, &scale] { write_attributes(scale.path, scale.path, nullptr); });
    } else {
      create_stand_in(scale, from.get(), space, dcpl);
    }
    objects_.add(scale.address, scale.path);
  }

  /// The dimension of a variable that was left out.
  void create_stand_in(const ScaleNative& scale, hid_t from, Hid& space, Hid& dcpl) {
    std::array<hsize_t, H5S_MAX_RANK> dims{};
    std::array<hsize_t, H5S_MAX_RANK> maxdims{};
    checked(lock_, H5Sget_simple_extent_dims(space.get(), dims.data(), maxdims.data()), "cannot read a dataspace");
    space = owned(lock_, H5Screate_simple(1, dims.data(), maxdims.data()), "cannot create a dataspace", Code::internal);
    unsigned order = 0;
    checked(lock_, H5Pget_attr_creation_order(dcpl.get(), &order), "cannot read the attribute order");
    dcpl = owned(lock_, H5Pcreate(H5P_DATASET_CREATE), "cannot create a property list", Code::internal);
    set(lock_, H5Pset_attr_creation_order(dcpl.get(), order));
    set(lock_, H5Pset_obj_track_times(dcpl.get(), false));
    const hsize_t one = 1;
    if (maxdims[0] != dims[0]) set(lock_, H5Pset_chunk(dcpl.get(), 1, &one));
    const Hid type = owned(lock_, H5Tcopy(H5T_IEEE_F32BE), "cannot copy a datatype", Code::internal);
    create_dataset(scale.path, from, type, space, dcpl);
    attribute_writes_.push_back([this, &scale, length = dims[0]] { write_stand_in_attributes(scale, length); });
  }

  void write_stand_in_attributes(const ScaleNative& scale, hsize_t length) {
    const Hid from = open_source(scale.path);
    const Hid to = open_target(scale.path);
    write_scale(lock_, to.get(), fmt::format("{}{:10}", kDimensionOnly, length));
    if (scale.dimension_id) write_ids(lock_, to.get(), "_Netcdf4Dimid", {*scale.dimension_id}, true);
    if (H5Aexists(from.get(), "REFERENCE_LIST") > 0)
      copy_attribute(lock_, from.get(), to.get(), "REFERENCE_LIST", types_, objects_);
  }

  Hid open_target(const std::string& path) {
    return owned(lock_, H5Oopen(file_->id(), path.c_str(), H5P_DEFAULT), "cannot open " + path, Code::internal);
  }

  void create_link(const LinkNode& link) {
    const std::string what = "cannot create the link " + link.path;
    const Hid naming = link_creation_list(link.path);
    const char* const path = link.path.c_str();
    switch (link.kind) {
      case LinkNode::Kind::hard:
        checked(
            lock_,
            H5Lcreate_hard(file_->id(), native_path(link.target).c_str(), file_->id(), path, naming.get(), H5P_DEFAULT),
            what, Code::io);
        return;
      case LinkNode::Kind::soft:
        checked(lock_, H5Lcreate_soft(link.target.c_str(), file_->id(), path, naming.get(), H5P_DEFAULT), what,
                Code::io);
        return;
      case LinkNode::Kind::external:
        checked(
            lock_,
            H5Lcreate_external(link.file.c_str(), link.target.c_str(), file_->id(), path, naming.get(), H5P_DEFAULT),
            what, Code::io);
        return;
    }
  }

  /// A link's target may be an array that shows without its netCDF prefix.
  std::string native_path(const std::string& path) const {
    const auto found = targets_.find(path);
    return found == targets_.end() ? path : found->second.path;
  }

  /// Copies the attributes of the source object that are hidden or in `wanted` (null: all), in their order, and adds
  /// those of `wanted` that the source does not have.
  void write_attributes(const std::string& path, const std::string& shown, const std::vector<Attribute>* wanted) {
    try {
      const Hid from = open_source(path);
      const Hid to = open_target(path);
      std::set<std::string> written;
      for (const AttributeEntry& entry : list_attributes(lock_, from.get(), creation_list(lock_, from.get()))) {
        const Attribute* attribute = wanted == nullptr ? nullptr : find_attribute(*wanted, entry.name);
        if (wanted != nullptr && attribute == nullptr && !is_hidden_attribute(entry.name)) continue;
        written.insert(entry.name);
        if (attribute != nullptr && dynamic_cast<const AttributeNative*>(attribute->native.get()) == nullptr)
          write_attribute(lock_, to.get(), *attribute, style());
        else
          copy_attribute(lock_, from.get(), to.get(), entry.name, types_, objects_);
      }
      if (wanted == nullptr) return;
      for (const Attribute& attribute : *wanted)
        if (!written.contains(attribute.name)) write_attribute(lock_, to.get(), attribute, style());
    } catch (Error& error) {
      throw error.in(shown);
    }
  }

  AttributeStyle style() const { return tree_.format == "nc4" ? AttributeStyle::netcdf : AttributeStyle::hdf5; }

  const Lock& lock_;
  const Hierarchy& tree_;
  std::shared_ptr<File> source_;
  std::shared_ptr<File> file_;
  CommittedTypes types_;
  bool shares_;  // the source
  ObjectMap objects_;
  std::vector<Step> steps_;
  std::vector<std::function<void()>> attribute_writes_;
  std::map<std::string, Hdf5Writer::Target> targets_;
  std::set<std::string> array_paths_;  // in the file
};

}  // namespace

std::unique_ptr<Hdf5Writer> write_native(const std::string& path, const Hierarchy& tree, const FileNative& source,
                                         const KeptRanges* kept) {
  const Lock lock;
  return NativeWrite(lock, path, tree, source, kept).run();
}

}  // namespace chunkwise::hdf5
