#include "format/hdf5/pipeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <set>
#include <utility>
#include <vector>

#include "codec/filter_names.h"
#include "codec/registry.h"
#include "format/hdf5/filter.h"

namespace chunkwise::hdf5 {
namespace {

constexpr std::string_view kForeignFilter = "hdf5-";
constexpr unsigned kFlagsUnknown = ~0U;

struct Filter {
  int id = 0;
  unsigned flags = kFlagsUnknown;
  std::vector<unsigned> cd_values;
  std::string label;
};

std::vector<Filter> list_filters(const Lock& lock, hid_t dcpl) {
  constexpr const char* kWhat = "cannot read a filter";
  std::vector<Filter> filters;
  const int n_filters = checked(lock, H5Pget_nfilters(dcpl), "cannot read the filters");
  for (unsigned i = 0; i < static_cast<unsigned>(n_filters); ++i) {
    std::array<char, 256> label{};
    unsigned config = 0;
    std::size_t n_values = 0;
    Filter filter;
    checked(lock, H5Pget_filter2(dcpl, i, &filter.flags, &n_values, nullptr, 0, nullptr, &config), kWhat);
    filter.cd_values.resize(n_values);
    filter.id = checked(
        lock,
        H5Pget_filter2(dcpl, i, &filter.flags, &n_values, filter.cd_values.data(), label.size(), label.data(), &config),
        kWhat);
    label.back() = '\0';
    filter.label = label.data();
    filters.push_back(std::move(filter));
  }
  return filters;
}

CodecSpec foreign_filter(const Filter& filter) {
  CodecSpec spec;
  spec.name = fmt::format("{}{}", kForeignFilter, filter.id);
  spec.params["cd"] = std::vector<std::int64_t>(filter.cd_values.begin(), filter.cd_values.end());
  spec.params["flags"] = static_cast<std::int64_t>(filter.flags);
  spec.params["label"] = filter.label;
  return spec;
}

Filter filter_of(const CodecSpec& spec, const ArrayMeta& meta) {
  Filter filter;
  filter.id = foreign_filter_id(spec.name);
  filter.label = spec.name;
  if (filter.id == 0) {
    const CodecRow* const row = find_codec(spec.name);
    if (row == nullptr || row->hdf5_filter == 0 || row->to_hdf5 == nullptr)
      throw Error(Code::unsupported, fmt::format("HDF5 has no filter for the codec {}", spec.name)).in(meta.path);
    filter.id = row->hdf5_filter;
    filter.cd_values = row->to_hdf5(spec, meta.dtype.bytes, meta.chunk_bytes());
    return filter;
  }
  filter.flags = static_cast<unsigned>(spec.integer("flags", H5Z_FLAG_OPTIONAL));
  filter.label = spec.text("label", filter.label);
  if (const auto found = spec.params.find("cd"); found != spec.params.end())
    if (const auto* values = std::get_if<std::vector<std::int64_t>>(&found->second))
      std::transform(values->begin(), values->end(), std::back_inserter(filter.cd_values),
                     [](std::int64_t value) { return static_cast<unsigned>(value); });
  return filter;
}

std::vector<Filter> filters_of(const ArrayMeta& meta) {
  std::vector<Filter> filters;
  for (const CodecSpec& spec : meta.codecs) filters.push_back(filter_of(spec, meta));
  return filters;
}

/// The same filters in the same order, each only once.
bool same_filters(const std::vector<Filter>& a, const std::vector<Filter>& b) {
  std::set<int> ids;
  for (const Filter& filter : a) ids.insert(filter.id);
  return ids.size() == a.size() && std::equal(a.begin(), a.end(), b.begin(), b.end(),
                                              [](const Filter& x, const Filter& y) { return x.id == y.id; });
}

unsigned flags_for(const Filter& filter, const std::vector<Filter>& present) {
  if (filter.flags != kFlagsUnknown) return filter.flags;
  const auto same =
      std::find_if(present.begin(), present.end(), [&](const Filter& other) { return other.id == filter.id; });
  if (same != present.end()) return same->flags;
  return filter.id == H5Z_FILTER_FLETCHER32 ? H5Z_FLAG_MANDATORY : H5Z_FLAG_OPTIONAL;
}

std::string name_of(const Filter& filter) {
  const std::string_view known = filter_name(filter.id);
  return fmt::format("HDF5 filter {} ({})", filter.id, known.empty() ? std::string_view(filter.label) : known);
}

bool decode_alike(const Filter& a, const Filter& b) {
  if (a.id != b.id) return false;
  if (a.id != H5Z_FILTER_SZIP || a.cd_values.empty() || a.cd_values.size() != b.cd_values.size())
    return a.cd_values == b.cd_values;
  // Of the options only two matter for decoding: whether neighbours are subtracted, and the order of bytes.
  constexpr unsigned kBigEndian = 16;
  constexpr unsigned kOptions = H5_SZIP_NN_OPTION_MASK | kBigEndian;
  return (a.cd_values[0] & kOptions) == (b.cd_values[0] & kOptions) &&
         std::equal(a.cd_values.begin() + 1, a.cd_values.end(), b.cd_values.begin() + 1);
}

}  // namespace

int foreign_filter_id(const std::string& codec_name) {
  if (!codec_name.starts_with(kForeignFilter)) return 0;
  int id = 0;
  const char* const begin = codec_name.data() + kForeignFilter.size();
  const char* const end = codec_name.data() + codec_name.size();
  const auto [stop, error] = std::from_chars(begin, end, id);
  return error == std::errc() && stop == end && id > 0 ? id : 0;
}

CodecSpecs read_filters(const Lock& lock, hid_t dcpl, bool refers) {
  CodecSpecs specs;
  for (const Filter& filter : list_filters(lock, dcpl)) {
    const CodecRow* const row = find_codec_by_hdf5(filter.id);
    if (row == nullptr || row->from_hdf5 == nullptr) {
      specs.push_back(foreign_filter(filter));
      continue;
    }
    try {
      specs.push_back(row->from_hdf5(filter.cd_values));
    } catch (const Error& error) {
      // A variant of the filter that we do not speak: chunks can still be copied as they are.
      if (error.code() != Code::unsupported && !refers) throw;
      specs.push_back(foreign_filter(filter));
    }
  }
  return specs;
}

void require_filters(const Lock& lock, const CodecSpecs& codecs) {
  for (const CodecSpec& spec : codecs) {
    const int id = foreign_filter_id(spec.name);
    if (id == 0 || H5Zfilter_avail(id) > 0) continue;
    static_cast<void>(library_error(lock, {}));
    throw Error(Code::unsupported,
                fmt::format("{} is not supported, and the elements refer to other places of the file, so that they "
                            "cannot be copied without it",
                            name_of({id, 0, {}, spec.text("label", "")})),
                "leave the variable out with --exclude");
  }
}

void set_filters(const Lock& lock, hid_t dcpl, const ArrayMeta& meta) {
  const std::vector<Filter> present = list_filters(lock, dcpl);
  const std::vector<Filter> wanted = filters_of(meta);
  const auto set = [&](const Filter& filter, herr_t result) {
    checked(lock, result, fmt::format("cannot set {} of {}", name_of(filter), meta.path), Code::unsupported);
  };
  // Changed in place, filters also keep the names they have in the file.
  if (same_filters(present, wanted)) {
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const std::vector<unsigned>& values = wanted[i].cd_values;
      if (values == present[i].cd_values) continue;
      set(wanted[i], H5Pmodify_filter(dcpl, wanted[i].id, present[i].flags, values.size(), values.data()));
    }
    return;
  }
  if (!present.empty())
    checked(lock, H5Premove_filter(dcpl, H5Z_FILTER_ALL), "cannot remove the filters of " + meta.path);
  for (const Filter& filter : wanted) {
    make_filter_known(lock, filter.id, filter.label);
    set(filter,
        H5Pset_filter(dcpl, filter.id, flags_for(filter, present), filter.cd_values.size(), filter.cd_values.data()));
  }
}

void check_filters(const Lock& lock, hid_t dataset, hid_t dcpl) {
  const std::vector<Filter> wanted = list_filters(lock, dcpl);
  if (wanted.empty()) return;
  const Hid own = owned(lock, H5Dget_create_plist(dataset), "cannot read the properties of a dataset");
  const std::vector<Filter> made = list_filters(lock, own.get());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (i < made.size() && decode_alike(made[i], wanted[i])) continue;
    const std::vector<unsigned> values = i < made.size() ? made[i].cd_values : std::vector<unsigned>();
    throw Error(Code::unsupported,
                fmt::format("the library gives {} the parameters ({}), but the chunks have ({})", name_of(wanted[i]),
                            fmt::join(values, ", "), fmt::join(wanted[i].cd_values, ", ")),
                "choose other codecs with --codec");
  }
}

}  // namespace chunkwise::hdf5
