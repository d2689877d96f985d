#include "format/hdf5/attributes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <tuple>
#include <utility>

#include "base/checked.h"
#include "format/hdf5/types.h"

namespace chunkwise::hdf5 {
namespace {

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

herr_t collect_entry(hid_t, const char* name, const H5A_info_t* info, void* entries) noexcept {
  try {
    static_cast<std::vector<AttributeEntry>*>(entries)->push_back({name, info->data_size});
    return 0;
  } catch (...) {
    return -1;
  }
}

/// Shape and number of elements of an attribute's dataspace (not null). Throws Error{corrupt}.
std::pair<Shape, std::uint64_t> extent(const Lock& lock, hid_t space, const std::string& name) {
  std::array<hsize_t, H5S_MAX_RANK> dims{};
  const int rank = checked(lock, H5Sget_simple_extent_dims(space, dims.data(), nullptr), "cannot read an extent");
  Shape shape;
  for (int i = 0; i < rank; ++i) {
    const hsize_t length = dims[static_cast<std::size_t>(i)];
    if (length > static_cast<hsize_t>(INT64_MAX)) throw Error(Code::corrupt, "an extent passes 2^63").in("@" + name);
    shape.push_back(static_cast<Index>(length));
  }
  const auto n = checked_product(shape);
  if (!n) throw Error(Code::corrupt, "the number of elements passes 2^63").in("@" + name);
  return {shape, static_cast<std::uint64_t>(*n)};
}

/// A single text that ends at a zero byte is netCDF's form of characters: there all of the width counts, and one zero
/// byte is how it stores no character at all.
std::string fixed_text(std::string_view text, H5T_str_t padding, bool one) {
  if (one && padding == H5T_STR_NULLTERM && text.size() > 1) return std::string(text);
  const char pad = padding == H5T_STR_SPACEPAD ? ' ' : '\0';
  while (!text.empty() && text.back() == pad) text.remove_suffix(1);
  return std::string(text);
}

/// Reads all elements in the file's own type.
std::vector<std::byte> read_raw(const Lock& lock, hid_t attribute, hid_t type, std::uint64_t n_elements,
                                std::uint64_t max_bytes, const std::string& name) {
  const auto size_bytes = checked_mul<std::uint64_t>(n_elements, H5Tget_size(type));
  if (!size_bytes || *size_bytes > max_bytes)
    throw Error(Code::corrupt, fmt::format("{} elements are more than the file holds", n_elements)).in("@" + name);
  std::vector<std::byte> raw(static_cast<std::size_t>(*size_bytes));
  if (!raw.empty()) checked(lock, H5Aread(attribute, type, raw.data()), "cannot read the attribute @" + name);
  return raw;
}

void read_texts(const Lock& lock, hid_t type, hid_t space, std::vector<std::byte> raw, const std::string& name,
                AttributeValue& value) {
  value.kind = AttributeValue::Kind::text;
  const bool variable = H5Tis_variable_str(type) > 0;
  value.text_form = {.fixed = !variable, .utf8 = H5Tget_cset(type) == H5T_CSET_UTF8};
  if (variable) {
    std::vector<char*> pointers(raw.size() / sizeof(char*));
    if (!raw.empty()) std::memcpy(pointers.data(), raw.data(), pointers.size() * sizeof(char*));
    const bool has_null = std::find(pointers.begin(), pointers.end(), nullptr) != pointers.end();
    if (!has_null) value.texts.assign(pointers.begin(), pointers.end());
    checked(lock, H5Dvlen_reclaim(type, space, H5P_DEFAULT, pointers.data()), "cannot free the texts of @" + name);
    if (!has_null) return;
    value = AttributeValue();
    value.kind = AttributeValue::Kind::foreign;
    value.description = "text that is null";
    return;
  }
  const std::size_t size = H5Tget_size(type);
  const H5T_str_t padding = H5Tget_strpad(type);
  for (std::size_t at = 0; at + size <= raw.size(); at += size)
    value.texts.push_back(
        fixed_text({reinterpret_cast<const char*>(raw.data()) + at, size}, padding, raw.size() == size));
}

void to_native_order(std::vector<std::byte>& data, std::size_t element_bytes, ByteOrder order) {
  if (order == kNativeOrder || element_bytes < 2) return;
  for (std::size_t at = 0; at + element_bytes <= data.size(); at += element_bytes)
    std::reverse(data.begin() + static_cast<std::ptrdiff_t>(at),
                 data.begin() + static_cast<std::ptrdiff_t>(at + element_bytes));
}

Hid simple_space(const Lock& lock, const Shape& shape) {
  if (shape.rank() == 0) return owned(lock, H5Screate(H5S_SCALAR), "cannot create a dataspace", Code::internal);
  std::array<hsize_t, H5S_MAX_RANK> dims{};
  std::transform(shape.begin(), shape.end(), dims.begin(), [](Index n) { return static_cast<hsize_t>(n); });
  return owned(lock, H5Screate_simple(shape.rank(), dims.data(), nullptr), "cannot create a dataspace", Code::internal);
}

/// `data` is of `type`, the attribute of `stored_type` if that is given.
void create(const Lock& lock, hid_t object, const std::string& name, const Hid& type, const Hid& space,
            const void* data, const Hid* stored_type = nullptr) {
  const Hid naming = naming_list(lock, H5P_ATTRIBUTE_CREATE, name);
  const std::string what = "cannot write the attribute @" + name;
  const Hid attribute = owned(lock,
                              H5Acreate2(object, name.c_str(), (stored_type == nullptr ? type : *stored_type).get(),
                                         space.get(), naming.get(), H5P_DEFAULT),
                              what, Code::io);
  if (data != nullptr) checked(lock, H5Awrite(attribute.get(), type.get(), data), what, Code::io);
}

void write_texts(const Lock& lock, hid_t object, const Attribute& attribute, AttributeStyle style) {
  const AttributeValue& value = attribute.value;
  const bool netcdf = style == AttributeStyle::netcdf;
  const bool one = value.texts.size() == 1 && (netcdf || value.shape.rank() == 0);
  const bool ascii = std::all_of(value.texts.begin(), value.texts.end(), is_ascii);
  const bool utf8 = netcdf ? !ascii : value.text_form.utf8;
  const bool fixed = value.text_form.fixed && (one || !netcdf);
  const Shape shape = netcdf ? Shape{static_cast<Index>(value.texts.size())} : value.shape;
  const Hid space = simple_space(lock, fixed && one ? Shape{} : shape);
  if (fixed) {
    std::size_t width = 1;
    for (const std::string& text : value.texts) width = std::max(width, text.size());
    std::string block;
    for (const std::string& text : value.texts) block.append(text).append(width - text.size(), '\0');
    // NULLTERM with no terminator, as netCDF-C has it; NULLPAD for lists, where numpy strips the padding.
    const Hid type = make_string_type(lock, width, one ? H5T_STR_NULLTERM : H5T_STR_NULLPAD, utf8 || !ascii);
    create(lock, object, attribute.name, type, space, block.data());
    return;
  }
  std::vector<const char*> pointers;
  for (const std::string& text : value.texts) {
    if (text.find('\0') != std::string::npos)
      throw Error(Code::unsupported, "a text with a zero byte in it cannot be stored as a variable-length string")
          .in("@" + attribute.name);
    pointers.push_back(text.c_str());
  }
  const Hid type = make_string_type(lock, 0, H5T_STR_NULLTERM, netcdf || utf8 || !ascii);
  create(lock, object, attribute.name, type, space, pointers.data());
}

void write_numbers(const Lock& lock, hid_t object, const Attribute& attribute, AttributeStyle style,
                   const NamedTypes& types) {
  const AttributeValue& value = attribute.value;
  const Hid type = make_type(lock, value.dtype, kNativeOrder);
  const auto named = types.find(value.dtype.named);
  const Index n = product(value.shape);
  CHUNKWISE_CHECK(value.data.size() == static_cast<std::size_t>(n) * value.dtype.bytes);
  const Hid space = simple_space(lock, style == AttributeStyle::netcdf ? Shape{n} : value.shape);
  create(lock, object, attribute.name, type, space, n == 0 ? nullptr : value.data.data(),
         named == types.end() || style == AttributeStyle::netcdf ? nullptr : &named->second);
}

void write_empty(const Lock& lock, hid_t object, const Attribute& attribute) {
  const AttributeValue& value = attribute.value;
  const Hid type = value.empty_is_text
                       ? make_string_type(lock, value.text_form.fixed ? 1 : 0, H5T_STR_NULLTERM, value.text_form.utf8)
                       : make_type(lock, value.dtype, kNativeOrder);
  const Hid space = owned(lock, H5Screate(H5S_NULL), "cannot create a dataspace", Code::internal);
  create(lock, object, attribute.name, type, space, nullptr);
}

}  // namespace

bool is_hidden_attribute(std::string_view name) {
  constexpr std::array<std::string_view, 9> kHidden = {"CLASS",
                                                       "NAME",
                                                       "REFERENCE_LIST",
                                                       "DIMENSION_LIST",
                                                       "DIMENSION_LABELS",
                                                       "_Netcdf4Dimid",
                                                       "_Netcdf4Coordinates",
                                                       "_nc3_strict",
                                                       "_NCProperties"};
  return std::find(kHidden.begin(), kHidden.end(), name) != kHidden.end();
}

Hid creation_list(const Lock& lock, hid_t object) {
  constexpr const char* kWhat = "cannot read the creation properties of an object";
  switch (H5Iget_type(object)) {
    case H5I_GROUP:
      return owned(lock, H5Gget_create_plist(object), kWhat);
    case H5I_DATASET:
      return owned(lock, H5Dget_create_plist(object), kWhat);
    case H5I_DATATYPE:
      return owned(lock, H5Tget_create_plist(object), kWhat);
    default:
      return {};
  }
}

bool tracks_attribute_order(const Lock&, const Hid& creation) {
  unsigned flags = 0;
  return creation && H5Pget_attr_creation_order(creation.get(), &flags) >= 0 && (flags & H5P_CRT_ORDER_TRACKED) != 0;
}

/// Old headers list attributes one after the other, as they were made; new ones may keep them in a hash order.
static bool has_old_header(const Lock& lock, hid_t object) {
#if H5_VERSION_GE(1, 12, 0)
  H5O_info1_t info;
#else
  H5O_info_t info;
#endif
  checked(lock, H5Oget_info2(object, &info, H5O_INFO_HDR), "cannot read an object's header");
  return info.hdr.version == 1;
}

std::vector<AttributeEntry> list_attributes(const Lock& lock, hid_t object, const Hid& creation) {
  std::vector<AttributeEntry> entries;
  const bool old = has_old_header(lock, object);  // those never track
  const H5_index_t index = !old && tracks_attribute_order(lock, creation) ? H5_INDEX_CRT_ORDER : H5_INDEX_NAME;
  const H5_iter_order_t order = old ? H5_ITER_NATIVE : H5_ITER_INC;
  hsize_t position = 0;
  checked(lock, H5Aiterate2(object, index, order, &position, collect_entry, &entries), "cannot list the attributes");
  return entries;
}

AttributeValue read_attribute(const Lock& lock, hid_t object, const std::string& name, std::uint64_t max_bytes) {
  const std::string what = "cannot read the attribute @" + name;
  const Hid attribute = owned(lock, H5Aopen(object, name.c_str(), H5P_DEFAULT), what);
  const Hid type = owned(lock, H5Aget_type(attribute.get()), what);
  const Hid space = owned(lock, H5Aget_space(attribute.get()), what);
  AttributeValue value;
  const ElementType element = element_type(lock, type.get());
  const bool is_text = H5Tget_class(type.get()) == H5T_STRING;
  if (!element.dtype.is_number() && !is_text) {
    value.kind = AttributeValue::Kind::foreign;
    value.description = describe_type(lock, type.get());
    return value;
  }
  if (!is_text) value.dtype = element.dtype;

  std::uint64_t n_elements = 0;
  if (H5Sget_simple_extent_type(space.get()) != H5S_NULL)
    std::tie(value.shape, n_elements) = extent(lock, space.get(), name);
  if (n_elements == 0) {
    value.kind = AttributeValue::Kind::empty;
    value.shape = Shape{};
    value.empty_is_text = is_text;
    if (is_text)
      value.text_form = {.fixed = H5Tis_variable_str(type.get()) <= 0,
                         .utf8 = H5Tget_cset(type.get()) == H5T_CSET_UTF8};
    return value;
  }
  std::vector<std::byte> raw = read_raw(lock, attribute.get(), type.get(), n_elements, max_bytes, name);
  if (is_text) {
    read_texts(lock, type.get(), space.get(), std::move(raw), name, value);
    return value;
  }
  value.kind = AttributeValue::Kind::numbers;
  to_native_order(raw, element.dtype.bytes, element.byte_order);
  value.data = std::move(raw);
  return value;
}

std::string read_text_attribute(const Lock& lock, hid_t object, const char* name) {
  constexpr std::uint64_t kMaxBytes = 1 << 20;
  if (H5Aexists(object, name) <= 0) return {};
  const AttributeValue value = read_attribute(lock, object, name, kMaxBytes);
  return value.texts.size() == 1 ? value.texts.front().substr(0, value.texts.front().find('\0')) : std::string();
}

void drop_text_ends(std::vector<Attribute>& attributes) {
  for (Attribute& attribute : attributes) {
    AttributeValue& value = attribute.value;
    if (value.kind != AttributeValue::Kind::text || !value.text_form.fixed) continue;
    for (std::string& text : value.texts) text.resize(text.find_last_not_of('\0') + 1);
  }
}

void write_attribute(const Lock& lock, hid_t object, const Attribute& attribute, AttributeStyle style,
                     const NamedTypes& types) {
  switch (attribute.value.kind) {
    case AttributeValue::Kind::numbers:
      return write_numbers(lock, object, attribute, style, types);
    case AttributeValue::Kind::text:
      return write_texts(lock, object, attribute, style);
    case AttributeValue::Kind::empty:
      return write_empty(lock, object, attribute);
    case AttributeValue::Kind::json:
      throw Error(Code::unsupported, "HDF5 has no attribute for the JSON value " + attribute.value.json)
          .in("@" + attribute.name);
    case AttributeValue::Kind::foreign:
      throw Error(Code::unsupported, "an attribute of type " + attribute.value.description + " cannot be written")
          .in("@" + attribute.name);
  }
}

Hid naming_list(const Lock& lock, hid_t list_class, std::string_view name) {
  Hid list = owned(lock, H5Pcreate(list_class), "cannot create a property list", Code::internal);
  if (!is_ascii(name))
    checked(lock, H5Pset_char_encoding(list.get(), H5T_CSET_UTF8), "cannot set a character set", Code::internal);
  return list;
}

}  // namespace chunkwise::hdf5
