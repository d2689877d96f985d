#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "array/cf_times.h"
#include "array/element_change.h"
#include "array/zarr_adapt.h"
#include "format/hdf5/adapt_parts.h"
#include "format/hdf5/attributes.h"
#include "format/hdf5/native.h"
#include "format/hdf5/types.h"

namespace chunkwise::hdf5 {
namespace {

float half_to_float(std::uint16_t half) {
  const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000u) << 16;
  const std::uint32_t exponent = (half >> 10) & 0x1fu;
  const std::uint32_t mantissa = half & 0x3ffu;
  if (exponent == 0x1f) return std::bit_cast<float>(sign | 0x7f800000u | (mantissa << 13));
  if (exponent == 0) {
    const float magnitude = std::ldexp(static_cast<float>(mantissa), -24);
    return sign != 0 ? -magnitude : magnitude;
  }
  return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
}

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

bool comes_from_netcdf(const Hierarchy& tree) {
  const auto* zarr = dynamic_cast<const ZarrTree*>(tree.native.get());
  const std::string& source = zarr != nullptr ? zarr->source : tree.format;
  return source == "nc4" || source == "nc3";
}

void halves_to_floats(AttributeValue& value) {
  std::vector<std::byte> data(2 * value.data.size());
  for (std::size_t i = 0; i < value.data.size() / 2; ++i) {
    std::uint16_t half = 0;
    std::memcpy(&half, value.data.data() + 2 * i, sizeof half);
    const float number = half_to_float(half);
    std::memcpy(data.data() + 4 * i, &number, sizeof number);
  }
  value.data = std::move(data);
  value.dtype.bytes = 4;
}

/// netCDF wants `_FillValue` in the type of its variable.
void retype_fill_attribute(ArrayNode& node, AdaptReport& report) {
  const auto is_no_fill_value = [&](const Attribute& attribute) {
    if (attribute.name != "_FillValue") return false;
    const AttributeValue& value = attribute.value;
    const bool one = value.kind == AttributeValue::Kind::numbers && value.data.size() == value.dtype.bytes;
    const DType& dtype = node.meta.dtype;
    const bool one_text = value.kind == AttributeValue::Kind::text && value.texts.size() == 1 &&
                          (dtype.kind == DType::Kind::string ||
                           (dtype.kind == DType::Kind::text && value.texts[0].size() == dtype.bytes));
    if (one_text) return false;
    if (one && in_array_type(value, node.meta.dtype).dtype == node.meta.dtype) return false;
    report.losses.push_back(
        {node.meta.path + "@_FillValue",
         fmt::format("is no single value of type {}, as netCDF-4 wants it", node.meta.dtype.name())});
    return true;
  };
  std::erase_if(node.attributes, is_no_fill_value);
  for (Attribute& attribute : node.attributes) {
    AttributeValue& value = attribute.value;
    if (attribute.name == "_FillValue" && node.meta.dtype.kind == DType::Kind::string)
      value.text_form.fixed = false;  // a string, not characters
    if (attribute.name != "_FillValue" || !node.meta.dtype.is_number() || value.dtype == node.meta.dtype) continue;
    AttributeValue typed = in_array_type(value, node.meta.dtype);
    report.notes.push_back(fmt::format("{}@_FillValue: {} becomes {}, the type of the variable", node.meta.path,
                                       value.dtype.name(), typed.dtype.name()));
    value = std::move(typed);
  }
}

class ContentAdapter {
 public:
  ContentAdapter(Hierarchy& tree, bool netcdf, AdaptReport& report)
      : tree_(tree), netcdf_(netcdf), report_(report), knows_text_forms_(comes_from_netcdf(tree)) {}

  void run() {
    for (const GroupNode& group : tree_.groups)
      if (group.path != "/" && !is_valid_name(base_name(group.path), netcdf_))
        throw Error(Code::unsupported, fmt::format("{} has no place for a group of this name", target()),
                    "rename the group, or leave it out with --exclude")
            .in(group.path);
    times_to_cf(tree_, report_);
    if (!netcdf_) wide_texts_to_utf8();
    lose_types(
        tree_, target(), [this](const DType& dtype) { return has_type(dtype, netcdf_); }, report_);
    for (ArrayNode& node : tree_.arrays) take_named_type(node.meta);
    std::erase_if(tree_.arrays, [this](const ArrayNode& node) { return lose_array(node); });
    for (const LinkNode& link : tree_.links) lose(link.path, "a link to " + link.target);
    tree_.links.clear();
    for (const UnsupportedNode& node : tree_.unsupported) lose(node.path, node.what);
    tree_.unsupported.clear();
    for (GroupNode& group : tree_.groups) adapt_attributes(group.attributes, group.path);
    for (ArrayNode& node : tree_.arrays) {
      adapt_attributes(node.attributes, node.meta.path);
      if (netcdf_) retype_fill_attribute(node, report_);
    }
  }

 private:
  const char* target() const { return netcdf_ ? "netCDF-4" : "HDF5"; }

  void lose(const std::string& object, const std::string& what) {
    report_.losses.push_back({object, fmt::format("{} cannot be stored in {}", what, target())});
  }

  /// HDF5 has no texts of four bytes a character.
  void wide_texts_to_utf8() {
    for (ArrayNode& node : tree_.arrays) {
      ArrayMeta& meta = node.meta;
      if (meta.dtype.kind != DType::Kind::utf32) continue;
      const ArrayMeta wide = meta;
      meta.dtype = DType(DType::Kind::text, wide.dtype.bytes, "utf-8");
      meta.layout.byte_order = kNativeOrder;
      ElementChange(wide, meta).apply(meta.fill);
      report_.notes.push_back(fmt::format("{}: {} is stored as texts of {} bytes in UTF-8", meta.path,
                                          wide.dtype.name(), meta.dtype.bytes));
    }
  }

  /// The named type of an array stays only if it is still the same type.
  void take_named_type(ArrayMeta& meta) {
    const auto found = std::find_if(tree_.types.begin(), tree_.types.end(), [&](const TypeNode& type) {
      return type.path == meta.dtype.named && type.dtype == meta.dtype;
    });
    if (found == tree_.types.end())
      meta.dtype.named.clear();
    else if (meta.dtype.kind != DType::Kind::structured)
      set_byte_order(meta, found->byte_order);
  }

  bool lose_array(const ArrayNode& node) {
    const ArrayMeta& meta = node.meta;
    const auto* native = dynamic_cast<const ArrayNative*>(node.native.get());
    if (netcdf_ && meta.dtype.kind == DType::Kind::list)
      lose(meta.path, fmt::format("type {} (a type without a name)", meta.dtype.name()));
    else if (meta.dtype.kind == DType::Kind::object)
      lose(meta.path, "type " + meta.dtype.name());
    else if (!meta.unsupported.empty())
      lose(meta.path, meta.unsupported);
    else if (netcdf_ && meta.dtype.kind == DType::Kind::text && meta.dtype.bytes != 1)
      lose(meta.path, fmt::format("type {} (texts of a fixed length above one)", meta.dtype.name()));
    else if (netcdf_ && meta.dtype.kind == DType::Kind::float_ && meta.dtype.bytes == 2)
      lose(meta.path, "type f2 (half precision)");
    else if (!meta.dtype.is_varying() && (meta.dtype.refers || !has_type(meta.dtype, netcdf_)))
      lose(meta.path, "type " + meta.dtype.name());
    else if (netcdf_ && needs_name(meta.dtype) && meta.dtype.named.empty())
      lose(meta.path, fmt::format("type {} without a name of its own", meta.dtype.name()));
    else if (native != nullptr && native->null_space)
      lose(meta.path, "an array without a dataspace");
    else if (!is_valid_name(base_name(meta.path), netcdf_))
      lose(meta.path, "this name");
    else
      return false;
    return true;
  }

  void adapt_attributes(std::vector<Attribute>& attributes, const std::string& object) {
    std::erase_if(attributes, [&](Attribute& attribute) { return lose_attribute(attribute, object); });
  }

  /// True if the attribute must go; otherwise it has been given a form the target knows.
  bool lose_attribute(Attribute& attribute, const std::string& object) {
    const std::string place = object + "@" + attribute.name;
    AttributeValue& value = attribute.value;
    if (attribute.name.empty() || attribute.name.find('\0') != std::string::npos ||
        (netcdf_ && !is_valid_name(attribute.name, netcdf_))) {
      lose(place, "an attribute of this name");
      return true;
    }
    if (is_hidden_attribute(attribute.name)) {
      lose(place, "an attribute with a name that dimension scales use themselves");
      return true;
    }
    switch (value.kind) {
      case AttributeValue::Kind::foreign:
        lose(place, "an attribute of type " + value.description);
        return true;
      case AttributeValue::Kind::json: {
        lose(place, "the JSON value " + value.json.substr(0, 60) + " (kept as text)");
        AttributeValue text;
        text.kind = AttributeValue::Kind::text;
        text.texts = {value.json};
        value = std::move(text);
        break;
      }
      case AttributeValue::Kind::numbers:
        adapt_numbers(value, place);
        break;
      case AttributeValue::Kind::text:
        adapt_texts(value, place);
        break;
      case AttributeValue::Kind::empty:
        if (netcdf_ && !value.empty_is_text) adapt_number_type(value, place);
        break;
    }
    return false;
  }

  /// netCDF finds the type of an attribute among the named ones.
  void adapt_enum(AttributeValue& value, const std::string& place) {
    if (value.dtype.names.empty()) return;
    const auto found = std::find_if(tree_.types.begin(), tree_.types.end(),
                                    [&](const TypeNode& type) { return type.dtype == value.dtype; });
    if (found != tree_.types.end()) {
      value.dtype.named = found->path;
      return;
    }
    lose(place, "the names of an " + value.dtype.name() + " without a name of its own (kept as integers)");
    value.dtype.names.clear();
  }

  void adapt_number_type(AttributeValue& value, const std::string& place) {
    adapt_enum(value, place);
    if (value.dtype.kind == DType::Kind::boolean) {
      lose(place, "an attribute of type bool (kept as i1)");
      value.dtype.kind = DType::Kind::int_;
    } else if (value.dtype.kind == DType::Kind::float_ && value.dtype.bytes == 2) {
      lose(place, "an attribute of type f2 (kept as f4)");
      halves_to_floats(value);
    }
  }

  void adapt_numbers(AttributeValue& value, const std::string& place) {
    if (!netcdf_) return;
    adapt_number_type(value, place);
    if (value.shape.rank() > 1) {
      lose(place, fmt::format("the shape {} of an attribute (kept as a list)", to_string(value.shape)));
      value.shape = Shape{product(value.shape)};
    }
  }

  void adapt_texts(AttributeValue& value, const std::string& place) {
    // One plain text is characters in netCDF, unless the source was netCDF itself and had a string there.
    if (netcdf_ && !knows_text_forms_ && value.texts.size() == 1 && is_ascii(value.texts.front()))
      value.text_form.fixed = true;
    if (netcdf_ && value.shape.rank() > 1) {
      lose(place, fmt::format("the shape {} of an attribute (kept as a list)", to_string(value.shape)));
      value.shape = Shape{static_cast<Index>(value.texts.size())};
    }
    const bool has_zero = std::any_of(value.texts.begin(), value.texts.end(),
                                      [](const std::string& text) { return text.find('\0') != std::string::npos; });
    if (!has_zero) return;
    if (value.texts.size() == 1 || !netcdf_) {
      value.text_form.fixed = true;  // the only form that can hold a zero byte
      return;
    }
    lose(place, "a list of texts with zero bytes in them (cut there)");
    for (std::string& text : value.texts) text.resize(std::min(text.size(), text.find('\0')));
  }

  Hierarchy& tree_;
  bool netcdf_;
  AdaptReport& report_;
  bool knows_text_forms_;
};

}  // namespace

void adapt_contents(Hierarchy& tree, bool netcdf, AdaptReport& report) {
  ContentAdapter(tree, netcdf, report).run();
}

}  // namespace chunkwise::hdf5
