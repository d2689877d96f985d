#include <fmt/format.h>

#include <algorithm>

#include "array/cf_times.h"
#include "array/dimensions.h"
#include "array/zarr_adapt.h"
#include "format/netcdf3/file_plan.h"

namespace chunkwise::netcdf3 {
namespace {

bool is_ascii(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

class ContentAdapter {
 public:
  ContentAdapter(Hierarchy& tree, AdaptReport& report) : tree_(tree), report_(report) {}

  void run() {
    for (const GroupNode& group : tree_.groups)
      if (group.path != "/") lose(group.path, "a group");
    std::erase_if(tree_.groups, [](const GroupNode& group) { return group.path != "/"; });
    for (const LinkNode& link : tree_.links) lose(link.path, "a link to " + link.target);
    tree_.links.clear();
    for (const UnsupportedNode& node : tree_.unsupported) lose(node.path, node.what);
    tree_.unsupported.clear();
    lose_types(
        tree_, "netCDF-3", [](const DType&) { return false; }, report_);
    times_to_cf(tree_, report_);
    std::erase_if(tree_.arrays, [this](const ArrayNode& node) { return lose_array(node.meta); });
    adapt_attributes(tree_.groups.front().attributes, "/");
    for (ArrayNode& node : tree_.arrays) {
      lose_names(node.meta.dtype, node.meta.path);
      adapt_attributes(node.attributes, node.meta.path);
      adapt_fill_attribute(node);
    }
    if (n_strings_ > 0)
      report_.notes.push_back(
          fmt::format("{} attributes of type string become characters, as netCDF-3 has no strings", n_strings_));
  }

 private:
  void lose(const std::string& object, const std::string& what) {
    report_.losses.push_back({object, what + " cannot be stored in netCDF-3"});
  }

  bool lose_array(const ArrayMeta& meta) {
    if (parent_path(meta.path) != "/")
      lose(meta.path, "a variable in a group");
    else if (!meta.unsupported.empty())
      lose(meta.path, meta.unsupported);
    else if (!find_type(meta.dtype))
      lose(meta.path, "type " + meta.dtype.name());
    else if (!is_valid_name(base_name(meta.path), true))
      lose(meta.path, "this name");
    else
      return false;
    return true;
  }

  /// Enumerations become the integers they are.
  void lose_names(DType& dtype, const std::string& object) {
    if (dtype.names.empty()) return;
    lose(object, "the names of an " + dtype.name());
    dtype.names.clear();
  }

  void adapt_attributes(std::vector<Attribute>& attributes, const std::string& object) {
    std::erase_if(attributes, [&](Attribute& attribute) { return lose_attribute(attribute, object); });
  }

  /// True if the attribute must go; otherwise it has been given a form the target knows.
  bool lose_attribute(Attribute& attribute, const std::string& object) {
    const std::string place = object + "@" + attribute.name;
    AttributeValue& value = attribute.value;
    std::string what;
    const auto need_type = [&] {
      if (!find_type(value.dtype)) what = "an attribute of type " + value.dtype.name();
    };
    if (!is_valid_name(attribute.name, true)) what = "an attribute of this name";
    switch (value.kind) {
      case AttributeValue::Kind::foreign:
        what = "an attribute of type " + value.description;
        break;
      case AttributeValue::Kind::json:
        what = "the JSON value " + value.json.substr(0, 60);
        break;
      case AttributeValue::Kind::numbers:
        if (find_type(value.dtype)) lose_names(value.dtype, place);
        need_type();
        if (value.shape.rank() > 1) what = fmt::format("an attribute of shape {}", to_string(value.shape));
        break;
      case AttributeValue::Kind::empty:
        if (!value.empty_is_text) need_type();
        break;
      case AttributeValue::Kind::text:
        if (value.texts.size() != 1) what = fmt::format("a list of {} texts", value.texts.size());
        break;
    }
    if (!what.empty()) {
      lose(place, what);
      return true;
    }
    if (value.kind == AttributeValue::Kind::numbers) value.shape = Shape{product(value.shape)};
    if (value.kind == AttributeValue::Kind::text) adapt_text(value);
    return false;
  }

  void adapt_text(AttributeValue& value) {
    const bool was_fixed = value.text_form.fixed;
    if (!was_fixed && tree_.format == "nc4") ++n_strings_;
    value.text_form = {.fixed = true, .utf8 = !is_ascii(value.texts.front())};
    if (!value.texts.front().empty()) return;
    // HDF5 has no fixed text without a byte, so what netCDF-4 stores and reads as "" is a zero byte.
    if (was_fixed && tree_.format == "nc4") {
      value.texts.front().push_back('\0');
      return;
    }
    value = AttributeValue{};
    value.kind = AttributeValue::Kind::empty;
    value.empty_is_text = true;
    value.text_form = {.fixed = true, .utf8 = false};
  }

  /// netCDF wants `_FillValue` in the type of its variable.
  void adapt_fill_attribute(ArrayNode& node) {
    const ArrayMeta& meta = node.meta;
    std::erase_if(node.attributes, [&](Attribute& attribute) {
      if (attribute.name != "_FillValue") return false;
      AttributeValue& value = attribute.value;
      const bool is_character = meta.dtype.kind == DType::Kind::text && value.kind == AttributeValue::Kind::text &&
                                value.texts.front().size() == 1;
      if (is_character) return false;
      const AttributeValue typed = in_array_type(value, meta.dtype);
      const bool is_one = typed.kind == AttributeValue::Kind::numbers && typed.dtype == meta.dtype &&
                          typed.data.size() == meta.dtype.bytes;
      // A classic source may have anything there, and keeps it.
      if (!is_one && tree_.format == "nc3") return false;
      if (!is_one) {
        report_.losses.push_back({meta.path + "@_FillValue",
                                  fmt::format("is no single value of type {}, as netCDF wants it", meta.dtype.name())});
        return true;
      }
      if (value.dtype != typed.dtype && tree_.format != "nc3") {
        report_.notes.push_back(fmt::format("{}@_FillValue: {} becomes {}, the type of the variable", meta.path,
                                            value.dtype.name(), typed.dtype.name()));
        value = typed;
      }
      return false;
    });
  }

  Hierarchy& tree_;
  AdaptReport& report_;
  std::size_t n_strings_ = 0;
};

}  // namespace

void adapt_contents(Hierarchy& tree, AdaptReport& report) {
  ContentAdapter(tree, report).run();
}

}  // namespace chunkwise::netcdf3
