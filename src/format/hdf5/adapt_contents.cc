#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "format/hdf5/adapt_parts.h"
#include "format/hdf5/attributes.h"
#include "format/hdf5/native.h"

namespace chunkwise::hdf5 {
namespace {

constexpr std::size_t kMaxNetcdfNameBytes = 256;

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

template <typename T>
T load(const std::vector<std::byte>& data) {
  T value{};
  std::memcpy(&value, data.data(), sizeof value);
  return value;
}

/// Calls `use` with the single number of `value` in its own C++ type.
template <typename Use>
auto with_number(const AttributeValue& value, Use use) {
  const std::size_t bytes = value.dtype.bytes;
  if (value.dtype.kind == DType::Kind::float_)
    return bytes == 4 ? use(load<float>(value.data)) : use(load<double>(value.data));
  if (value.dtype.kind == DType::Kind::uint) {
    if (bytes == 1) return use(load<std::uint8_t>(value.data));
    if (bytes == 2) return use(load<std::uint16_t>(value.data));
    return bytes == 4 ? use(load<std::uint32_t>(value.data)) : use(load<std::uint64_t>(value.data));
  }
  if (bytes == 1) return use(load<std::int8_t>(value.data));
  if (bytes == 2) return use(load<std::int16_t>(value.data));
  return bytes == 4 ? use(load<std::int32_t>(value.data)) : use(load<std::int64_t>(value.data));
}

/// `number` as a To, if that is the same number.
template <typename To, typename From>
std::optional<To> exactly(From number) {
  if constexpr (std::is_floating_point_v<From>) {
    if (std::isnan(number)) {
      if constexpr (std::is_floating_point_v<To>) return std::numeric_limits<To>::quiet_NaN();
      return std::nullopt;
    }
    if constexpr (std::is_integral_v<To>) {
      // The bounds are powers of two, so exact in any float.
      const double limit = std::ldexp(1.0, std::numeric_limits<To>::digits);
      const double wide{number};
      if (!(wide < limit) || wide < (std::is_signed_v<To> ? -limit : 0.0)) return std::nullopt;
    }
  } else if constexpr (std::is_integral_v<To>) {
    if (!std::in_range<To>(number)) return std::nullopt;
  }
  const To result = static_cast<To>(number);
  if constexpr (std::is_integral_v<From> && std::is_floating_point_v<To>) {
    // Back through an integer only where that is defined.
    if (std::fabs(static_cast<double>(result)) >= std::ldexp(1.0, 63)) return std::nullopt;
    return static_cast<From>(result) == number ? std::optional(result) : std::nullopt;
  } else {
    return static_cast<From>(result) == number ? std::optional(result) : std::nullopt;
  }
}

template <typename To>
std::optional<std::vector<std::byte>> converted(const AttributeValue& value) {
  const std::optional<To> number = with_number(value, [](auto from) { return exactly<To>(from); });
  if (!number) return std::nullopt;
  std::vector<std::byte> data(sizeof(To));
  std::memcpy(data.data(), &*number, sizeof(To));
  return data;
}

std::optional<std::vector<std::byte>> converted_to(const AttributeValue& value, const DType& dtype) {
  if (dtype.kind == DType::Kind::float_) {
    if (dtype.bytes == 4) return converted<float>(value);
    if (dtype.bytes == 8) return converted<double>(value);
  } else if (dtype.kind == DType::Kind::int_) {
    if (dtype.bytes == 1) return converted<std::int8_t>(value);
    if (dtype.bytes == 2) return converted<std::int16_t>(value);
    return dtype.bytes == 4 ? converted<std::int32_t>(value) : converted<std::int64_t>(value);
  } else if (dtype.kind == DType::Kind::uint) {
    if (dtype.bytes == 1) return converted<std::uint8_t>(value);
    if (dtype.bytes == 2) return converted<std::uint16_t>(value);
    return dtype.bytes == 4 ? converted<std::uint32_t>(value) : converted<std::uint64_t>(value);
  }
  return std::nullopt;
}

/// netCDF wants `_FillValue` in the type of its variable.
void retype_fill_attribute(ArrayNode& node, AdaptReport& report) {
  for (Attribute& attribute : node.attributes) {
    AttributeValue& value = attribute.value;
    if (attribute.name != "_FillValue" || value.kind != AttributeValue::Kind::numbers ||
        value.dtype == node.meta.dtype || value.dtype.kind == DType::Kind::boolean ||
        value.data.size() != value.dtype.bytes || (value.dtype.kind == DType::Kind::float_ && value.dtype.bytes == 2))
      continue;
    auto data = converted_to(value, node.meta.dtype);
    if (!data) {
      report.notes.push_back(fmt::format("{}@_FillValue: stays {}, as {} cannot hold it", node.meta.path,
                                         value.dtype.name(), node.meta.dtype.name()));
      continue;
    }
    report.notes.push_back(fmt::format("{}@_FillValue: {} becomes {}, the type of the variable", node.meta.path,
                                       value.dtype.name(), node.meta.dtype.name()));
    value.data = std::move(*data);
    value.dtype = node.meta.dtype;
    attribute.native = nullptr;
  }
}

class ContentAdapter {
 public:
  ContentAdapter(Hierarchy& tree, bool netcdf, AdaptReport& report) : tree_(tree), netcdf_(netcdf), report_(report) {}

  void run() {
    for (const GroupNode& group : tree_.groups)
      if (group.path != "/" && !is_valid_name(base_name(group.path), netcdf_))
        throw Error(Code::unsupported, fmt::format("{} has no place for a group of this name", target()),
                    "rename the group, or leave it out with --exclude")
            .in(group.path);
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

  bool lose_array(const ArrayNode& node) {
    const ArrayMeta& meta = node.meta;
    const auto* native = dynamic_cast<const ArrayNative*>(node.native.get());
    if (!meta.dtype.is_number())
      lose(meta.path, "type " + meta.dtype.name());
    else if (!meta.unsupported.empty())
      lose(meta.path, meta.unsupported);
    else if (native != nullptr && native->null_space)
      lose(meta.path, "an array without a dataspace");
    else if (netcdf_ && meta.dtype.kind == DType::Kind::boolean)
      lose(meta.path, "type bool");
    else if (netcdf_ && meta.dtype.kind == DType::Kind::float_ && meta.dtype.bytes == 2)
      lose(meta.path, "type f2 (half precision)");
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

  void adapt_number_type(AttributeValue& value, const std::string& place) {
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
};

}  // namespace

bool is_valid_name(std::string_view name, bool netcdf) {
  if (name.empty() || name == "." || name.find('/') != std::string_view::npos ||
      name.find('\0') != std::string_view::npos)
    return false;
  if (!netcdf) return true;
  const bool has_control =
      std::any_of(name.begin(), name.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
  return name != ".." && name.back() != ' ' && name.size() <= kMaxNetcdfNameBytes && !has_control;
}

void adapt_contents(Hierarchy& tree, bool netcdf, AdaptReport& report) {
  ContentAdapter(tree, netcdf, report).run();
}

}  // namespace chunkwise::hdf5
