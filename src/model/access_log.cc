#include "model/access_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include "base/error.h"
#include "base/json.h"

namespace chunkwise {
namespace {

constexpr std::size_t kLongestLine = 64 * 1024;
constexpr std::size_t kMostKinds = 20000;  // of requests of one variable; later ones join the nearest

std::string unescape(std::string_view text) {
  const auto digit = [](char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
  };
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && digit(text[i + 1]) >= 0 && digit(text[i + 2]) >= 0) {
      result += static_cast<char>(digit(text[i + 1]) * 16 + digit(text[i + 2]));
      i += 2;
    } else {
      result += text[i];
    }
  }
  return result;
}

std::optional<std::int64_t> parse_whole(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  std::int64_t value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || failure != std::errc{} || end != text.data() + text.size() || value < 0) return {};
  return value;
}

/// "5", "0:9", "0:2:9", "" and "*" (all), "3:*" as THREDDS and DAP4 allow it.
std::optional<LoggedAxis> parse_brackets(std::string_view text) {
  if (text.empty() || text == "*" || text == ":") return LoggedAxis{0, 1};
  const auto colon = text.find(':');
  const auto first = parse_whole(text.substr(0, colon));
  if (!first) return {};
  if (colon == std::string_view::npos) return LoggedAxis{1, 1};
  std::string_view rest = text.substr(colon + 1);
  std::int64_t step = 1;
  if (const auto second = rest.find(':'); second != std::string_view::npos) {
    const auto parsed = parse_whole(rest.substr(0, second));
    if (!parsed || *parsed < 1) return {};
    step = *parsed;
    rest = rest.substr(second + 1);
  }
  if (rest.empty() || rest == "*") return *first == 0 ? std::optional(LoggedAxis{0, step}) : std::nullopt;
  const auto last = parse_whole(rest);
  if (!last || *last < *first) return {};
  return LoggedAxis{(*last - *first) / step + 1, step};
}

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

bool any_end(std::string_view text, std::initializer_list<std::string_view> ends) {
  return std::any_of(ends.begin(), ends.end(), [&](std::string_view end) { return ends_with(text, end); });
}

int length_class(std::int64_t n) {
  return n == 0 ? -1 : static_cast<int>(std::lround(2 * std::log2(static_cast<double>(n))));
}

std::string_view last_part(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

}  // namespace

void AccessLog::not_understood(std::string_view line) {
  ++counts_.other;
  if (first_other_.empty()) first_other_ = std::string(line.substr(0, 100));
}

void AccessLog::add(std::string_view line) {
  while (!line.empty() && (line.back() == '\r' || line.back() == '\n')) line.remove_suffix(1);
  if (line.find_first_not_of(" \t") == std::string_view::npos || line.front() == '#') return;
  ++counts_.lines;
  if (line.size() > kLongestLine) return not_understood(line);
  if (line.front() == '{') {
    if (!add_json(line)) not_understood(line);
    return;
  }
  // host - user [date] "GET target HTTP/1.1" status bytes ...
  const auto open = line.find('"');
  const auto close = open == std::string_view::npos ? open : line.find('"', open + 1);
  if (close == std::string_view::npos) return not_understood(line);
  const std::string_view request = line.substr(open + 1, close - open - 1);
  const auto space = request.find(' ');
  if (space == std::string_view::npos) return not_understood(line);
  const std::string_view method = request.substr(0, space);
  std::string_view target = request.substr(space + 1);
  target = target.substr(0, target.rfind(" HTTP/"));
  const std::string_view tail = line.substr(close + 1);
  const auto digit = tail.find_first_not_of(' ');
  const bool has_status = digit != std::string_view::npos && digit + 3 <= tail.size();
  if (!has_status) return not_understood(line);
  if (tail[digit] == '4' || tail[digit] == '5') {
    ++counts_.failed;
    return;
  }
  if (method == "HEAD" || method == "OPTIONS") {
    ++counts_.metadata;
    return;
  }
  const auto before = counts_;
  add_url(target);
  if (counts_.recognised == before.recognised && counts_.metadata == before.metadata) not_understood(line);
}

void AccessLog::add_url(std::string_view target) {
  const auto question = target.find('?');
  std::string path = unescape(target.substr(0, question));
  std::string query = question == std::string_view::npos ? std::string() : unescape(target.substr(question + 1));
  if (any_end(path, {".dds", ".das", ".ddx", ".dmr", ".dmr.xml", ".dmr.html", ".info", ".html", ".ver", ".xml", ".help",
                     ".css", ".js", ".png", ".ico", "/"})) {
    ++counts_.metadata;
    return;
  }
  const bool data = any_end(path, {".dods", ".ascii", ".asc", ".dap", ".nc4", ".nc", ".dap.nc4", ".dap.csv", ".csv"});
  if (!data || query.empty()) return;
  // DAP4 has its constraint in a parameter.
  if (const auto ce = query.find("dap4.ce="); ce != std::string::npos) {
    query = query.substr(ce + 8);
    query = query.substr(0, query.find('&'));
  } else {
    query = query.substr(0, query.find('&'));  // DAP2: selections follow
  }
  if (query.find('(') != std::string::npos || query.empty()) return;
  if (add_constraint(query)) ++counts_.recognised;
}

/// Projections, separated by ',' or ';'. All of them, or none.
bool AccessLog::add_constraint(std::string_view text) {
  std::vector<std::pair<std::string, std::vector<LoggedAxis>>> found;
  while (!text.empty()) {
    const auto end = std::min(text.find_first_of(",;"), text.size());
    std::string_view part = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    while (!part.empty() && part.front() == ' ') part.remove_prefix(1);
    const auto bracket = std::min(part.find('['), part.size());
    std::string name(part.substr(0, bracket));
    if (name.empty() || name.find_first_of("<>=\"{}") != std::string::npos) return false;
    if (name.front() == '/') name.erase(0, 1);
    // T.T, T.array: a grid and its array.
    if (const auto dot = name.rfind('.'); dot != std::string::npos && dot > 0) {
      const std::string grid = name.substr(0, dot);
      const std::string member = name.substr(dot + 1);
      if (member == last_part(grid) || member == "array") name = grid;
    }
    std::vector<LoggedAxis> axes;
    std::string_view rest = part.substr(bracket);
    while (!rest.empty()) {
      const auto close = rest.find(']');
      if (rest.front() != '[' || close == std::string_view::npos) return false;
      const auto axis = parse_brackets(rest.substr(1, close - 1));
      if (!axis) return false;
      axes.push_back(*axis);
      rest.remove_prefix(close + 1);
    }
    found.emplace_back(std::move(name), std::move(axes));
  }
  for (const auto& [name, axes] : found) add_request(name, axes);
  return !found.empty();
}

bool AccessLog::add_json(std::string_view line) {
  Json object;
  try {
    object = parse_json(line);
  } catch (const Error&) {
    return false;
  }
  const auto text = [&](const char* name) {
    const auto member = object.find(name);
    return member != object.end() && member->is_string() ? member->get<std::string>() : std::string();
  };
  for (const char* name : {"url", "request"}) {
    std::string target = text(name);
    if (target.empty()) continue;
    if (const auto space = target.find(' '); space != std::string::npos) {  // "GET target HTTP/1.1"
      target = target.substr(space + 1);
      target = target.substr(0, target.find(' '));
    }
    const auto before = counts_;
    add_url(target);
    return counts_.recognised != before.recognised || counts_.metadata != before.metadata;
  }
  std::string variable = text("variable");
  if (variable.empty()) return false;
  if (variable.front() == '/') variable.erase(0, 1);
  const auto lengths = [&](const char* name) -> std::optional<std::vector<std::int64_t>> {
    const auto member = object.find(name);
    std::vector<std::int64_t> list;
    if (member == object.end() || member->is_null()) return list;
    if (!member->is_array()) return {};
    for (const auto& value : *member) {
      if (!value.is_number_integer() || value.get<std::int64_t>() < 0) return {};
      list.push_back(value.get<std::int64_t>());
    }
    return list;
  };
  const auto count = lengths("count");
  const auto stride = lengths("stride");
  if (!count || !stride || (!stride->empty() && stride->size() != count->size())) return false;
  std::vector<LoggedAxis> axes;
  for (std::size_t i = 0; i < count->size(); ++i) {
    const LoggedAxis axis{(*count)[i], stride->empty() ? 1 : (*stride)[i]};
    if (axis.n < 1 || axis.step < 1) return false;
    axes.push_back(axis);
  }
  add_request(variable, axes);
  ++counts_.recognised;
  return true;
}

void AccessLog::add_request(const std::string& variable, const std::vector<LoggedAxis>& axes) {
  auto& kinds = clusters_[variable];
  Key key;
  for (const auto& axis : axes) key.emplace_back(length_class(axis.n), axis.n == 1 ? 1 : axis.step);
  auto at = kinds.find(key);
  if (at == kinds.end() && kinds.size() >= kMostKinds) {
    at = kinds.lower_bound(key);
    if (at == kinds.end()) --at;
    if (at->first.size() != key.size()) return;
  }
  if (at == kinds.end()) {
    at = kinds.emplace(std::move(key), LoggedCluster{std::vector<double>(axes.size()), axes, 0}).first;
  }
  LoggedCluster& cluster = at->second;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    cluster.sum_log_n[i] += std::log(static_cast<double>(std::max<std::int64_t>(1, axes[i].n)));
  }
  ++cluster.n_requests;
}

std::vector<std::string> AccessLog::variables() const {
  std::vector<std::string> names;
  for (const auto& [name, kinds] : clusters_) names.push_back(name);
  return names;
}

std::vector<AccessPattern> AccessLog::patterns(std::string_view path, const Axes& axes, std::size_t most,
                                               std::uint64_t& n_unfit, std::uint64_t& n_rest) const {
  n_unfit = n_rest = 0;
  std::map<std::pair<std::vector<Index>, std::vector<Index>>, double> found;  // extents, steps -> requests
  while (!path.empty() && path.front() == '/') path.remove_prefix(1);
  for (const auto& [name, kinds] : clusters_) {
    if (name != path && name != last_part(path)) continue;
    for (const auto& [key, cluster] : kinds) {
      const auto rank = static_cast<std::size_t>(axes.rank());
      bool fits = cluster.first.empty() || cluster.first.size() == rank;
      Shape extents = axes.shape;
      Shape steps = Shape::filled(axes.rank(), 1);
      for (std::size_t i = 0; fits && i < cluster.first.size(); ++i) {
        const int axis = static_cast<int>(i);
        const Index length = axes.shape[axis];
        const Index step = key[i].second;
        if (cluster.first[i].n == 0) {
          extents[axis] = (length - 1) / step + 1;
        } else {
          const double mean = std::exp(cluster.sum_log_n[i] / static_cast<double>(cluster.n_requests));
          const auto n = static_cast<Index>(std::llround(std::min(mean, 9e15)));
          // A mean of a class may pass the end by rounding; what never fitted does not.
          fits = cluster.first[i].n <= (length - 1) / step + 1;
          extents[axis] = std::min(n, (length - 1) / step + 1);
        }
        steps[axis] = extents[axis] == 1 ? 1 : step;
      }
      if (fits) {
        found[{{extents.begin(), extents.end()}, {steps.begin(), steps.end()}}] +=
            static_cast<double>(cluster.n_requests);
      } else {
        n_unfit += cluster.n_requests;
      }
    }
  }
  std::vector<AccessPattern> patterns;
  for (const auto& [shapes, n] : found) {
    std::string name;
    const Shape extents{std::span<const Index>(shapes.first)};
    const Shape steps{std::span<const Index>(shapes.second)};
    for (int axis = 0; axis < axes.rank(); ++axis) {
      const bool whole = extents[axis] == axes.shape[axis] && extents[axis] > 1;
      name += fmt::format("{}{}", axis == 0 ? "" : "x", whole ? "all" : std::to_string(extents[axis]));
      if (steps[axis] > 1) name += fmt::format("/{}", steps[axis]);
    }
    patterns.push_back({name, extents, n, steps});
  }
  std::stable_sort(patterns.begin(), patterns.end(),
                   [](const AccessPattern& a, const AccessPattern& b) { return a.weight > b.weight; });
  for (std::size_t i = most; i < patterns.size(); ++i) n_rest += static_cast<std::uint64_t>(patterns[i].weight);
  if (patterns.size() > most) patterns.resize(most);
  return patterns;
}

}  // namespace chunkwise
