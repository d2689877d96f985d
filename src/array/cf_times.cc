#include "array/cf_times.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace chunkwise {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kUnits{{{"D", "days"},
                                                                               {"h", "hours"},
                                                                               {"m", "minutes"},
                                                                               {"s", "seconds"},
                                                                               {"ms", "milliseconds"},
                                                                               {"us", "microseconds"},
                                                                               {"ns", "nanoseconds"}}};

Attribute text_attribute(std::string name, std::string text) {
  Attribute attribute;
  attribute.name = std::move(name);
  attribute.value.kind = AttributeValue::Kind::text;
  attribute.value.texts = {std::move(text)};
  return attribute;
}

}  // namespace

void times_to_cf(Hierarchy& tree, AdaptReport& report) {
  for (ArrayNode& node : tree.arrays) {
    DType& dtype = node.meta.dtype;
    const bool is_date = dtype.kind == DType::Kind::datetime;
    if (!is_date && dtype.kind != DType::Kind::timedelta) continue;
    const auto unit = std::find_if(kUnits.begin(), kUnits.end(), [&](const auto& u) { return u.first == dtype.unit; });
    if (unit == kUnits.end() || dtype.n_units != 1) continue;
    const bool is_taken = std::any_of(node.attributes.begin(), node.attributes.end(), [&](const Attribute& attribute) {
      return attribute.name == "units" || attribute.name == (is_date ? "calendar" : "dtype");
    });
    if (is_taken) continue;
    std::string units(unit->second);
    if (is_date) units += " since 1970-01-01";
    report.notes.push_back(
        fmt::format("{}: {} is stored as i8 with units \"{}\"", node.meta.path, dtype.name(), units));
    node.attributes.push_back(text_attribute("units", std::move(units)));
    node.attributes.push_back(is_date ? text_attribute("calendar", "proleptic_gregorian")
                                      : text_attribute("dtype", fmt::format("timedelta64[{}]", dtype.unit)));
    dtype = *parse_dtype("i8");
  }
}

}  // namespace chunkwise
