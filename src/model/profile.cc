// Devices as JSON files.
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/json.h"
#include "base/suggest.h"
#include "model/client.h"

namespace chunkwise {
namespace {

constexpr std::string_view kSchemaName = "chunkwise-profile/";
constexpr std::string_view kSchema = "chunkwise-profile/1";
constexpr double kNone = std::numeric_limits<double>::infinity();

Json number(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

[[noreturn]] void refuse(std::string_view where, const std::string& why, std::string hint = {}) {
  throw Error(Code::usage, fmt::format("the profile {} {}", where, why), std::move(hint));
}

bool is_rate(const ConstantRow& row) {
  return row.unit == "B/s" && row.name != "decode_Bps";
}

/// What a figure may be: times and sizes from 0, rates above 0 (null: infinite), counts and factors from 1.
double read_number(const Json& value, const ConstantRow& row, std::string_view where) {
  if (value.is_null() && (is_rate(row) || row.name == "window_bytes" || row.name == "readahead_bytes")) return kNone;
  const auto number = to_double(value);
  const bool sane = number && std::isfinite(*number) && *number >= 0 && (!is_rate(row) || *number > 0) &&
                    (row.name != "in_flight" || *number >= 1) && (row.name != "error_factor" || *number >= 1) &&
                    (row.name.find("_speed") == std::string_view::npos || *number > 0) &&
                    (row.name != "index_share" || *number <= 1);
  if (!sane) refuse(where, fmt::format("has a value of '{}' that makes no sense", row.name), std::string(row.meaning));
  return *number;
}

std::string text_member(const Json& document, const char* name) {
  const auto found = document.find(name);
  return found != document.end() && found->is_string() ? found->get<std::string>() : std::string();
}

void check_schema(const Json& document, std::string_view where) {
  const std::string schema = document.is_object() ? text_member(document, "schema") : std::string();
  if (schema == kSchema) return;
  if (schema.rfind(kSchemaName, 0) == 0) {
    refuse(where, fmt::format("has the schema '{}'; this version knows '{}'", schema, kSchema),
           "calibrate again, or use a newer chunkadvise");
  }
  refuse(where, fmt::format("is none: its schema is not '{}'", kSchema), "chunkadvise calibrate writes profiles");
}

}  // namespace

std::string profile_json(const Device& device, std::string_view more) {
  Json document = {{"schema", kSchema}, {"name", device.name}, {"summary", device.summary}};
  document["calibrated"] = device.calibrated.empty() ? Json(nullptr) : Json(device.calibrated);
  if (!device.client.empty()) document["client"] = device.client;
  Json constants = Json::object();
  for (const auto& row : constant_rows()) {
    const Constant& constant = device.*row.member;
    constants[std::string(row.name)] = {{"value", number(constant.value)}, {"low", number(constant.low)},
                                        {"high", number(constant.high)},   {"unit", row.unit},
                                        {"source", constant.source},       {"meaning", row.meaning}};
  }
  document["constants"] = std::move(constants);
  if (!more.empty()) document.update(parse_json(more));
  return dump_json(document, 2) + "\n";
}

Device parse_profile(std::string_view text, std::string_view where) {
  const Json document = parse_json(text);
  check_schema(document, where);
  Device device;
  device.name = text_member(document, "name");
  device.summary = text_member(document, "summary");
  device.calibrated = text_member(document, "calibrated");
  device.client = text_member(document, "client");
  if (device.name.empty()) refuse(where, "has no name");
  const auto constants = document.find("constants");
  if (constants == document.end() || !constants->is_object()) refuse(where, "has no constants");
  std::vector<std::string> names;
  for (const auto& row : constant_rows()) names.emplace_back(row.name);
  for (const auto& [name, value] : constants->items()) {
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      refuse(where, fmt::format("has an unknown constant '{}'", name), suggest(name, names));
    }
  }
  for (const auto& row : constant_rows()) {
    const auto found = constants->find(std::string(row.name));
    if (found == constants->end() && row.is_new) {
      if (row.fallback != nullptr) device.*row.member = device.*row.fallback;
      (device.*row.member).source = "the profile is older than this constant";
      continue;
    }
    if (found == constants->end()) refuse(where, fmt::format("lacks the constant '{}'", row.name));
    const Json& entry = *found;
    if (!entry.is_object() || !entry.contains("value")) {
      refuse(where, fmt::format("has no value of '{}'", row.name), R"(write {"value": ..., "low": ..., "high": ...})");
    }
    Constant& constant = device.*row.member;
    constant.value = read_number(entry["value"], row, where);
    constant.low = entry.contains("low") ? read_number(entry["low"], row, where) : constant.value;
    constant.high = entry.contains("high") ? read_number(entry["high"], row, where) : constant.value;
    constant.source = text_member(entry, "source");
    if (constant.low > constant.value || constant.high < constant.value) {
      refuse(where, fmt::format("has a value of '{}' outside its interval", row.name));
    }
  }
  // Before profiles said so, those with a rate of decoding were fitted to the reads of some client.
  if (device.client.empty() && device.decode_Bps > 0) device.client = "plain";
  if (!device.client.empty()) static_cast<void>(find_client(device.client));
  return device;
}

}  // namespace chunkwise
