#include "format/hdf5/walk.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "format/hdf5/array_meta.h"
#include "format/hdf5/attributes.h"
#include "format/hdf5/types.h"

namespace chunkwise::hdf5 {
namespace {

/// Larger attributes do not fit a message of an old-style object header.
constexpr std::uint64_t kLargeAttributeBytes = 60'000;
constexpr int kMaxDepth = 1000;

// Where a hard link leads. Opening what is there spares the library a second search for the name.
#if H5_VERSION_GE(1, 12, 0)
using Place = H5O_token_t;
Place place_of(const H5L_info_t& info) {
  return info.u.token;
}
hid_t open_at(hid_t file, const Place& place) {
  return H5Oopen_by_token(file, place);
}
#else
using Place = haddr_t;
Place place_of(const H5L_info_t& info) {
  return info.u.address;
}
hid_t open_at(hid_t file, Place place) {
  return H5Oopen_by_addr(file, place);
}
#endif

struct LinkEntry {
  std::string name;
  H5L_type_t type = H5L_TYPE_ERROR;
  Place place{};                // hard
  std::size_t value_bytes = 0;  // soft and external
};

herr_t collect_link(hid_t, const char* name, const H5L_info_t* info, void* entries) noexcept {
  try {
    LinkEntry entry{name, info->type, {}, 0};
    if (info->type == H5L_TYPE_HARD)
      entry.place = place_of(*info);
    else
      entry.value_bytes = info->u.val_size;
    static_cast<std::vector<LinkEntry>*>(entries)->push_back(std::move(entry));
    return 0;
  } catch (...) {
    return -1;
  }
}

class Walk {
 public:
  Walk(const Lock& lock, const File& file) : lock_(lock), file_(file), axes_(lock, file) {}

  FileRecords run() {
    Hid root = owned(lock_, H5Gopen2(file_.id(), "/", H5P_DEFAULT), "cannot open the root group");
    records_.classic_model = H5Aexists(root.get(), "_nc3_strict") > 0;
    records_.is_netcdf = records_.classic_model || H5Aexists(root.get(), "_NCProperties") > 0;
    root_is_ordered_ = is_ordered(creation_list(lock_, root.get()), "cannot read the root group's properties");
    visit_group(std::move(root), "/", 0);
    if (!records_.is_netcdf) drop_all_text_ends();
    name_types();
    return std::move(records_);
  }

 private:
  /// A dataset may come before its type has shown its name.
  void name_types() {
    for (const auto& [dataset, address] : type_of_) {
      const auto name = seen_.find(address);
      if (name != seen_.end()) records_.datasets[dataset].meta.dtype.named = name->second;
    }
    if (!records_.is_netcdf) return;
    for (DatasetRecord& dataset : records_.datasets) {
      DType& dtype = dataset.meta.dtype;
      if (dtype.named.empty() && needs_name(dtype)) dtype.named = name_of_equal(dtype, dataset.path);
    }
  }

  /// netCDF knows a type by being equal to one with a name: the nearest above, else any.
  std::string name_of_equal(const DType& dtype, const std::string& path) const {
    std::string found;
    std::size_t nearest = 0;
    for (const TypeRecord& type : records_.types) {
      if (type.dtype != dtype) continue;
      const std::string group = parent_path(type.path);
      const bool is_above = group == "/" || path.starts_with(group + "/");
      const std::size_t nearness = is_above ? 1 + group.size() : 0;
      if (!found.empty() && nearness <= nearest) continue;
      found = type.path;
      nearest = nearness;
    }
    return found;
  }

  void drop_all_text_ends() {
    for (GroupRecord& group : records_.groups) drop_text_ends(group.attributes);
    for (DatasetRecord& dataset : records_.datasets) drop_text_ends(dataset.attributes);
    for (TypeRecord& type : records_.types) drop_text_ends(type.attributes);
  }

  void visit_group(Hid group, const std::string& path, int depth) {
    if (depth > kMaxDepth)
      throw Error(Code::unsupported, fmt::format("groups are nested deeper than {}", kMaxDepth)).in(path);
    GroupRecord record;
    record.path = path;
    record.address = object_address(lock_, group.get());
    record.order = next_order_++;
    const Hid gcpl = creation_list(lock_, group.get());
    record.attributes = read_attributes(group.get(), gcpl);
    seen_.emplace(record.address, path);
    records_.groups.push_back(std::move(record));
    for (const LinkEntry& link : links_of(group.get(), gcpl, path)) {
      const std::string child = (path == "/" ? "" : path) + "/" + link.name;
      try {
        visit_link(group.get(), link, child, depth);
      } catch (Error& error) {
        if (error.where().empty()) throw error.in(child);
        throw;
      }
    }
  }

  /// The group kept the order in which its links were made.
  bool is_ordered(const Hid& gcpl, const std::string& what) {
    unsigned flags = 0;
    checked(lock_, H5Pget_link_creation_order(gcpl.get(), &flags), what);
    return (flags & H5P_CRT_ORDER_TRACKED) != 0;
  }

  std::vector<LinkEntry> links_of(hid_t group, const Hid& gcpl, const std::string& path) {
    const std::string what = "cannot list the group " + path;
    const bool tracked = is_ordered(gcpl, what);
    std::vector<LinkEntry> entries;
    hsize_t position = 0;
    checked(
        lock_,
        H5Literate(group, tracked ? H5_INDEX_CRT_ORDER : H5_INDEX_NAME, H5_ITER_INC, &position, collect_link, &entries),
        what);
    return entries;
  }

  void visit_link(hid_t group, const LinkEntry& link, const std::string& path, int depth) {
    switch (link.type) {
      case H5L_TYPE_HARD:
        return visit_object(link.place, path, depth);
      case H5L_TYPE_SOFT:
      case H5L_TYPE_EXTERNAL:
        return visit_soft(group, link, path);
      default:
        records_.unsupported.push_back(
            {path, fmt::format("user-defined link of class {}", static_cast<int>(link.type))});
    }
  }

  void visit_soft(hid_t group, const LinkEntry& link, const std::string& path) {
    std::vector<char> value(link.value_bytes + 1, '\0');
    checked(lock_, H5Lget_val(group, link.name.c_str(), value.data(), link.value_bytes, H5P_DEFAULT),
            "cannot read a link");
    LinkNode node;
    node.path = path;
    node.order = next_order_++;
    if (link.type == H5L_TYPE_SOFT) {
      node.kind = LinkNode::Kind::soft;
      node.target = value.data();
    } else {
      const char* file = nullptr;
      const char* target = nullptr;
      unsigned flags = 0;
      checked(lock_, H5Lunpack_elink_val(value.data(), link.value_bytes, &flags, &file, &target),
              "cannot read an external link");
      node.kind = LinkNode::Kind::external;
      node.file = file;
      node.target = target;
    }
    records_.links.push_back(std::move(node));
  }

  void visit_object(const Place& place, const std::string& path, int depth) {
    Hid object = owned(lock_, open_at(file_.id(), place), "cannot open the object");
    const haddr_t address = object_address(lock_, object.get());
    if (const auto known = seen_.find(address); known != seen_.end()) {
      records_.links.push_back({path, LinkNode::Kind::hard, known->second, {}, next_order_++});
      return;
    }
    switch (H5Iget_type(object.get())) {
      case H5I_GROUP:
        return visit_group(std::move(object), path, depth + 1);
      case H5I_DATASET:
        seen_.emplace(address, path);
        return visit_dataset(object.get(), address, path);
      case H5I_DATATYPE:
        seen_.emplace(address, path);
        return visit_type(object.get(), address, path);
      default:
        seen_.emplace(address, path);
        records_.unsupported.push_back({path, "object of an unknown kind"});
    }
  }

  void visit_dataset(hid_t dataset, haddr_t address, const std::string& path) {
    DatasetRecord record;
    record.path = path;
    record.address = address;
    record.order = next_order_++;
    const Hid dcpl = creation_list(lock_, dataset);
    DatasetShape shape = read_array_meta(lock_, dataset, dcpl, path);
    record.meta = std::move(shape.meta);
    if (shape.type_address != HADDR_UNDEF) type_of_.emplace_back(records_.datasets.size(), shape.type_address);
    record.null_space = shape.null_space;
    record.other_files = std::move(shape.other_files);
    std::vector<AttributeEntry> entries = list_attributes(lock_, dataset, dcpl);
    if (std::any_of(entries.begin(), entries.end(),
                    [](const auto& entry) { return is_hidden_attribute(entry.name); })) {
      record.axes = axes_.read(dataset, shape.null_space ? 0 : record.meta.shape.rank(), entries);
      records_.is_netcdf = records_.is_netcdf || has_netcdf_marks(lock_, dataset, root_is_ordered_);
    }
    record.attributes = read_attributes(dataset, dcpl, std::move(entries));
    records_.datasets.push_back(std::move(record));
  }

  void visit_type(hid_t type, haddr_t address, const std::string& path) {
    TypeRecord record;
    record.path = path;
    record.address = address;
    ElementType element = element_type(lock_, type);
    record.dtype = std::move(element.dtype);
    record.dtype.named = path;
    record.byte_order = element.byte_order;
    record.order = next_order_++;
    record.attributes = read_attributes(type, creation_list(lock_, type));
    records_.types.push_back(std::move(record));
  }

  std::vector<Attribute> read_attributes(hid_t object, const Hid& creation) {
    return read_attributes(object, creation, list_attributes(lock_, object, creation));
  }

  std::vector<Attribute> read_attributes(hid_t object, const Hid& creation, std::vector<AttributeEntry> entries) {
    std::vector<Attribute> attributes;
    attributes.reserve(entries.size());
    for (auto& [name, data_bytes] : entries) {
      if (data_bytes > kLargeAttributeBytes && !tracks_attribute_order(lock_, creation))
        records_.has_large_attributes = true;
      if (is_hidden_attribute(name)) continue;
      AttributeValue value = read_attribute(lock_, object, name, file_.size_bytes());
      attributes.push_back({std::move(name), std::move(value), nullptr});
    }
    return attributes;
  }

  const Lock& lock_;
  const File& file_;
  AxisReader axes_;
  FileRecords records_;
  std::map<haddr_t, std::string> seen_;
  std::vector<std::pair<std::size_t, haddr_t>> type_of_;  // of a dataset, by its number
  std::uint64_t next_order_ = 0;
  bool root_is_ordered_ = false;
};

}  // namespace

FileRecords walk(const Lock& lock, const File& file) {
  return Walk(lock, file).run();
}

}  // namespace chunkwise::hdf5
