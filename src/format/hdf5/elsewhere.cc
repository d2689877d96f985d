#include "format/hdf5/elsewhere.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "format/hdf5/driver.h"
#include "format/hdf5/element_buffer.h"
#include "format/hdf5/linear_layout.h"

namespace chunkwise::hdf5 {
namespace {

namespace fs = std::filesystem;

constexpr const char* kReading = "cannot read the creation properties of a dataset";

std::string raw_file(const Lock& lock, hid_t dcpl, unsigned i) {
  std::array<char, 4096> name{};
  off_t offset = 0;
  hsize_t size_bytes = 0;
  checked(lock, H5Pget_external(dcpl, i, name.size() - 1, name.data(), &offset, &size_bytes), kReading);
  return name.data();
}

template <typename Ask>
std::string mapped_name(const Lock& lock, const Ask& ask) {
  const auto length = static_cast<std::size_t>(checked(lock, ask(nullptr, 0), kReading));
  std::string name(length + 1, '\0');
  checked(lock, ask(name.data(), name.size()), kReading);
  name.resize(length);
  return name;
}

struct Mapped {
  std::string file;
  std::string dataset;
  friend auto operator<=>(const Mapped&, const Mapped&) = default;
};

std::vector<Mapped> mapped_datasets(const Lock& lock, hid_t dcpl) {
  std::vector<Mapped> mapped;
  std::set<Mapped> seen;
  std::size_t n = 0;
  checked(lock, H5Pget_virtual_count(dcpl, &n), kReading);
  for (std::size_t i = 0; i < n; ++i) {
    Mapped one{
        mapped_name(lock, [&](char* out, std::size_t size) { return H5Pget_virtual_filename(dcpl, i, out, size); }),
        mapped_name(lock, [&](char* out, std::size_t size) { return H5Pget_virtual_dsetname(dcpl, i, out, size); })};
    if (seen.insert(one).second) mapped.push_back(std::move(one));
  }
  return mapped;
}

bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

[[noreturn]] void throw_missing(const std::string& what, const std::string& path) {
  throw Error(Code::not_found, what, "put it where it was, beside the source, or leave the variable out with --exclude")
      .in(path);
}

/// Where the library looks for raw files: its environment variable, else the folder of the file, else the working
/// directory; null for the last.
const char* raw_file_prefix(const File& file, const std::vector<std::string>& names, const std::string& path) {
  const char* const set = std::getenv("HDF5_EXTFILE_PREFIX");
  const fs::path folder = fs::path(file.path()).parent_path();
  const auto all_in = [&](const fs::path& where) {
    return std::all_of(names.begin(), names.end(), [&](const std::string& name) { return is_there(where / name); });
  };
  if (set == nullptr || *set == '\0') {
    if (all_in(folder)) return "${ORIGIN}";
    if (all_in({})) return nullptr;
  }
  const std::string place = set == nullptr ? "" : set;
  for (const std::string& name : names) {
    const bool there = set != nullptr && *set != '\0' && place != "${ORIGIN}" ? is_there(fs::path(place) / name)
                                                                              : is_there(folder / name);
    if (!there) throw_missing(fmt::format("its elements lie in the file {}, which is not there", name), path);
  }
  return set != nullptr ? nullptr : "${ORIGIN}";
}

/// The places where the library looks for a mapped file, in its order.
fs::path find_mapped(const File& file, const std::string& name, const std::string& path) {
  std::vector<fs::path> places;
  if (const char* set = std::getenv("HDF5_VDS_PREFIX"); set != nullptr && *set != '\0')
    places.push_back(fs::path(set) / name);
  places.push_back(fs::path(file.path()).parent_path() / name);
  places.emplace_back(name);
  for (const fs::path& place : places)
    if (is_there(place)) return place;
  throw_missing(fmt::format("it maps the file {}, which is not there", name), path);
}

void require_mapped(const Lock& lock, const File& file, hid_t dcpl, const std::string& path) {
  for (const Mapped& mapped : mapped_datasets(lock, dcpl)) {
    if (mapped.file.find('%') != std::string::npos || mapped.dataset.find('%') != std::string::npos) continue;
    std::shared_ptr<File> other;
    if (mapped.file != ".") other = File::open(find_mapped(file, mapped.file, path).string());
    const hid_t in = other ? other->id() : file.id();
    if (const Hid dataset(H5Dopen2(in, mapped.dataset.c_str(), H5P_DEFAULT)); dataset) continue;
    static_cast<void>(library_error(lock, {}));
    throw_missing(fmt::format("it maps {} of the file {}, which is not there", mapped.dataset, mapped.file), path);
  }
}

class ElsewhereSource final : public ArraySource {
 public:
  ElsewhereSource(const Lock& lock, std::shared_ptr<File> file, Hid dataset, ArrayMeta meta)
      : ArraySource(std::move(meta)),
        file_(std::move(file)),
        dataset_(std::move(dataset)),
        type_(plain_type(lock, dataset_.get(), meta_)) {}

  ChunkRef locate(ChunkId id) const override {
    const LinearRange range = linear_range(grid_, id, meta_.dtype.bytes);
    return StoredAt{range.offset_bytes, range.size_bytes, 0};
  }

  void read(std::span<const ChunkId> ids, ReadBatch& batch) const override {
    batch.chunks.clear();
    batch.blocks.clear();
    const std::string what = "cannot read " + meta_.path;
    for (const ChunkId id : ids) {
      const Box box = grid_.box(id);
      Bytes elements(static_cast<std::size_t>(linear_range(grid_, id, meta_.dtype.bytes).size_bytes));
      if (!elements.empty()) {
        const Lock lock;
        const BoxSpaces spaces = box_spaces(lock, dataset_.get(), box, what);
        checked(
            lock,
            H5Dread(dataset_.get(), type_.get(), spaces.memory.get(), spaces.file.get(), H5P_DEFAULT, elements.data()),
            what, Code::io);
        // A file that the library could not open it takes for one that is not there.
        if (const std::exception_ptr error = take_driver_error()) std::rethrow_exception(error);
      }
      batch.blocks.push_back(std::move(elements));
      batch.chunks.push_back({batch.blocks.back().view(), 0, false});
    }
  }

 private:
  const std::shared_ptr<File> file_;
  const Hid dataset_;
  const Hid type_;
};

}  // namespace

std::vector<std::string> other_files(const Lock& lock, hid_t dcpl) {
  std::vector<std::string> names;
  const auto add = [&names](std::string name) {
    if (name != "." && std::find(names.begin(), names.end(), name) == names.end()) names.push_back(std::move(name));
  };
  if (checked(lock, H5Pget_layout(dcpl), kReading) == H5D_VIRTUAL) {
    for (Mapped& mapped : mapped_datasets(lock, dcpl)) add(std::move(mapped.file));
    return names;
  }
  const int n = checked(lock, H5Pget_external_count(dcpl), kReading);
  for (unsigned i = 0; i < static_cast<unsigned>(n); ++i) add(raw_file(lock, dcpl, i));
  return names;
}

Hid open_with_others(const Lock& lock, const File& file, const std::string& path, const Hid& access) {
  const std::string what = "cannot open " + path;
  Hid dataset = owned(lock, H5Dopen2(file.id(), path.c_str(), access.get()), what);
  const Hid dcpl = owned(lock, H5Dget_create_plist(dataset.get()), kReading);
  if (checked(lock, H5Pget_layout(dcpl.get()), kReading) == H5D_VIRTUAL) {
    require_mapped(lock, file, dcpl.get(), path);
    return dataset;
  }
  if (checked(lock, H5Pget_external_count(dcpl.get()), kReading) == 0) return dataset;
  const char* const prefix = raw_file_prefix(file, other_files(lock, dcpl.get()), path);
  if (prefix == nullptr) return dataset;
  checked(lock, H5Pset_efile_prefix(access.get(), prefix), "cannot set the folder of raw files", Code::internal);
  dataset.reset();
  return owned(lock, H5Dopen2(file.id(), path.c_str(), access.get()), what);
}

std::unique_ptr<ArraySource> make_elsewhere_source(std::shared_ptr<File> file, Hid dataset, ArrayMeta meta) {
  const Lock lock;
  return std::make_unique<ElsewhereSource>(lock, std::move(file), std::move(dataset), std::move(meta));
}

Hid without_raw_files(const Lock& lock, hid_t dcpl, hid_t type) {
  // No call takes raw files out of a list. Such a dataset is contiguous and has no filters.
  Hid list = owned(lock, H5Pcreate(H5P_DATASET_CREATE), "cannot create a property list", Code::internal);
  unsigned a = 0;
  unsigned b = 0;
  checked(lock, H5Pget_attr_creation_order(dcpl, &a), kReading);
  checked(lock, H5Pset_attr_creation_order(list.get(), a), kReading);
  checked(lock, H5Pget_attr_phase_change(dcpl, &a, &b), kReading);
  checked(lock, H5Pset_attr_phase_change(list.get(), a, b), kReading);
  hbool_t track_times = 0;
  checked(lock, H5Pget_obj_track_times(dcpl, &track_times), kReading);
  checked(lock, H5Pset_obj_track_times(list.get(), track_times), kReading);
  H5D_fill_time_t fill_time = H5D_FILL_TIME_IFSET;
  checked(lock, H5Pget_fill_time(dcpl, &fill_time), kReading);
  checked(lock, H5Pset_fill_time(list.get(), fill_time), kReading);
  H5D_alloc_time_t alloc_time = H5D_ALLOC_TIME_DEFAULT;
  checked(lock, H5Pget_alloc_time(dcpl, &alloc_time), kReading);
  checked(lock, H5Pset_layout(list.get(), H5D_CONTIGUOUS), kReading);
  checked(lock, H5Pset_alloc_time(list.get(), alloc_time), kReading);
  H5D_fill_value_t defined = H5D_FILL_VALUE_UNDEFINED;
  checked(lock, H5Pfill_value_defined(dcpl, &defined), kReading);
  if (defined == H5D_FILL_VALUE_UNDEFINED) checked(lock, H5Pset_fill_value(list.get(), type, nullptr), kReading);
  if (defined == H5D_FILL_VALUE_USER_DEFINED) {
    std::vector<std::byte> fill(H5Tget_size(type));
    checked(lock, H5Pget_fill_value(dcpl, type, fill.data()), kReading);
    checked(lock, H5Pset_fill_value(list.get(), type, fill.data()), kReading);
  }
  return list;
}

}  // namespace chunkwise::hdf5
