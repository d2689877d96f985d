#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/sizes.h"
#include "report/advise_report.h"
#include "report/text_table.h"

namespace chunkwise {
namespace {

using Layout = AdviseReport::Layout;
using Variable = AdviseReport::Variable;

constexpr std::size_t kMostSpecs = 8;
constexpr std::size_t kMostSkipped = 6;

std::string bytes_text(double bytes) {
  return format_bytes(bytes < 1.8e19 ? static_cast<std::uint64_t>(std::llround(bytes)) : UINT64_MAX);
}

/// Three figures: "167 ms", "1.23 s", "4.0 min".
std::string brief_seconds(double seconds) {
  const auto figures = [](double value, const char* unit) {
    return fmt::format("{:.{}f} {}", value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0, unit);
  };
  if (seconds < 0.9995) return figures(seconds * 1e3, "ms");
  if (seconds < 119.5) return figures(seconds, "s");
  if (seconds < 119.5 * 60) return figures(seconds / 60, "min");
  if (seconds < 95.5 * 3600) return figures(seconds / 3600, "h");
  return figures(seconds / 86400, "d");
}

/// format_bytes() with three figures at most.
std::string brief_bytes(double bytes) {
  std::string text = bytes_text(bytes);
  const auto dot = text.find('.');
  if (dot != std::string::npos && dot >= 3) text.erase(dot, 2);
  return text;
}

std::string compact(const Shape& shape) {
  return fmt::format("{}", fmt::join(shape.begin(), shape.end(), "x"));
}

std::string chunk_text(const std::optional<Shape>& chunk) {
  return chunk ? compact(*chunk) : "contiguous";
}

double decoded_bytes(const Shape& shape, std::size_t element_bytes) {
  double bytes = static_cast<double>(element_bytes);
  for (const Index length : shape) bytes *= static_cast<double>(length);
  return bytes;
}

/// 6711 -> "6711", 24.3 -> "24", 1.32 -> "1.3".
std::string ratio_text(double ratio) {
  return ratio < 9.95 ? fmt::format("{:.1f}", ratio) : fmt::format("{:.0f}", ratio);
}

/// "2", "1.35".
std::string error_text(const Device& device) {
  return fmt::format("{:.3g}", device.error_factor.value);
}

double worst_to_best(const Layout& layout) {
  double low = std::numeric_limits<double>::infinity();
  double high = 0;
  for (const auto& cost : layout.costs) {
    low = std::min(low, cost.seconds);
    high = std::max(high, cost.seconds);
  }
  return high / low;
}

/// Variables that share one table.
struct Group {
  std::vector<const Variable*> variables;  // the first stands for all
};

bool alike(const Variable& a, const Variable& b) {
  const bool same_array = a.exists == b.exists && a.meta.dtype == b.meta.dtype && a.meta.shape == b.meta.shape &&
                          a.axes.names == b.axes.names && a.axes.unlimited == b.axes.unlimited;
  const bool same_storage = a.meta.storage == b.meta.storage && a.meta.codecs == b.meta.codecs &&
                            (a.meta.storage != Storage::chunked || a.meta.chunk == b.meta.chunk) &&
                            a.meta.shards == b.meta.shards;
  const Layout* pick_a = a.find(Layout::Kind::recommended);
  const Layout* pick_b = b.find(Layout::Kind::recommended);
  return same_array && same_storage && pick_a->chunk == pick_b->chunk && a.notes == b.notes;
}

std::vector<Group> group(const std::vector<Variable>& variables) {
  std::vector<Group> groups;
  for (const auto& variable : variables) {
    const auto found = std::find_if(groups.begin(), groups.end(),
                                    [&](const Group& g) { return alike(*g.variables.front(), variable); });
    if (found != groups.end()) {
      found->variables.push_back(&variable);
    } else {
      groups.push_back({{&variable}});
    }
  }
  // The largest member stands for its group.
  for (auto& g : groups) {
    std::stable_sort(g.variables.begin(), g.variables.end(),
                     [](const Variable* a, const Variable* b) { return a->meta.stored_bytes > b->meta.stored_bytes; });
  }
  return groups;
}

/// "/T  f4 (time 98128, y 277, x 349)  35.3 GiB, stored 12.1 GiB, chunks 1x277x349, deflate:4".
std::string head_text(const Group& g) {
  const Variable& variable = *g.variables.front();
  const ArrayMeta& meta = variable.meta;
  std::string names;
  for (std::size_t i = 0; i < g.variables.size(); ++i) {
    if (i == 4 && g.variables.size() > 5) {
      names += fmt::format(" and {} more", g.variables.size() - i);
      break;
    }
    names += (i == 0 ? "" : ", ") + g.variables[i]->meta.path;
  }
  std::string dims;
  for (int axis = 0; axis < meta.shape.rank(); ++axis) {
    const auto& name = variable.axes.names[static_cast<std::size_t>(axis)];
    dims += fmt::format("{}{}{}{}", axis == 0 ? "" : ", ", name, name.empty() ? "" : " ", meta.shape[axis]);
  }
  std::string text = variable.exists ? names + "  " : std::string();
  text += fmt::format("{} ({})  {}", meta.dtype.name(), dims, bytes_text(decoded_bytes(meta.shape, meta.dtype.bytes)));
  if (!variable.exists) return text;
  text += fmt::format(", stored {}{}", meta.count_is_estimate ? "about " : "", format_bytes(meta.stored_bytes));
  if (meta.storage == Storage::chunked) {
    text += fmt::format(", {} chunk{} of {}", format_count(variable.n_chunks), variable.n_chunks == 1 ? "" : "s",
                        compact(meta.chunk));
    if (!meta.shards.empty()) text += fmt::format(" in shards of {}", compact(meta.unit()));
  } else {
    text += meta.storage == Storage::compact    ? ", compact"
            : meta.storage == Storage::virtual_ ? ", virtual"
                                                : ", contiguous";
  }
  if (!meta.codecs.empty()) text.append(", ").append(to_string(meta.codecs));
  if (g.variables.size() > 1) text += fmt::format("  (sizes and times: {})", meta.path);
  return text;
}

/// Layouts of a table, with policies of equal chunks as one row; the names left out are told below the table.
struct Rows {
  std::vector<const Layout*> layouts;
  std::string also;
};

Rows merge_rows(const Variable& variable) {
  Rows rows;
  std::vector<std::pair<const Layout*, std::string>> others;  // a row and the further policies it stands for
  for (const auto& layout : variable.layouts) {
    const auto same = std::find_if(rows.layouts.begin(), rows.layouts.end(), [&](const Layout* row) {
      return row->kind == Layout::Kind::policy && layout.kind == Layout::Kind::policy && row->chunk == layout.chunk;
    });
    if (same == rows.layouts.end()) {
      rows.layouts.push_back(&layout);
      continue;
    }
    const auto entry = std::find_if(others.begin(), others.end(), [&](const auto& o) { return o.first == *same; });
    if (entry == others.end()) {
      others.emplace_back(*same, layout.name);
    } else {
      entry->second += ", " + layout.name;
    }
  }
  for (const auto& [row, names] : others) rows.also += wrap(fmt::format("As {}: {}", row->name, names), 2);
  return rows;
}

std::string table_text(const Variable& variable) {
  const std::size_t n_patterns = variable.patterns.size();
  const Rows rows = merge_rows(variable);
  const auto fixed = [&] {
    TextColumn name{"layout", false, 0, {}};
    TextColumn chunks{"chunks", false, 0, {}};
    for (const Layout* layout : rows.layouts) {
      name.cells.push_back(layout->name);
      chunks.cells.push_back(chunk_text(layout->chunk));
    }
    return std::vector<TextColumn>{name, chunks};
  };
  std::vector<TextColumn> columns = fixed();
  TextColumn chunk_size{"chunk", true, 1, {}};
  TextColumn weighted{"weighted", true, 0, {}};
  TextColumn ratio{"ratio", true, 2, {}};
  TextColumn size{"size", true, 0, {}};
  for (const Layout* layout : rows.layouts) {
    chunk_size.cells.push_back(layout->chunk ? brief_bytes(decoded_bytes(*layout->chunk, variable.meta.dtype.bytes))
                                             : "-");
    weighted.cells.push_back(brief_seconds(layout->weighted_s));
    ratio.cells.push_back(ratio_text(worst_to_best(*layout)));
    size.cells.push_back(brief_bytes(layout->size_bytes));
  }
  const auto pattern_column = [&](std::size_t p) {
    TextColumn column{variable.patterns[p].name, true, 0, {}};
    for (const Layout* layout : rows.layouts) column.cells.push_back(brief_seconds(layout->costs[p].seconds));
    return column;
  };
  // Four patterns fit beside the rest; more go into further tables below.
  constexpr std::size_t kPatternsInFirst = 3;
  constexpr std::size_t kPatternsInOthers = 4;
  columns.push_back(chunk_size);
  for (std::size_t p = 0; p < std::min(n_patterns, kPatternsInFirst); ++p) columns.push_back(pattern_column(p));
  if (n_patterns > 1) columns.push_back(weighted);
  if (n_patterns > 1) columns.push_back(ratio);
  columns.push_back(size);
  std::string text = format_table(columns);
  for (std::size_t p = kPatternsInFirst; p < n_patterns; p += kPatternsInOthers) {
    columns = fixed();
    for (std::size_t q = p; q < std::min(n_patterns, p + kPatternsInOthers); ++q) columns.push_back(pattern_column(q));
    text.append("\n").append(format_table(columns));
  }
  return text + rows.also;
}

double gain_of(const Layout& now, const Layout& pick) {
  return pick.objective > 0 ? now.objective / pick.objective : 1;
}

/// True if the gain is beyond what the model can tell.
bool pays(const Variable& variable, const Device& device) {
  const Layout* now = variable.find(Layout::Kind::current);
  const Layout* pick = variable.find(Layout::Kind::recommended);
  return now != nullptr && now->chunk != pick->chunk && gain_of(*now, *pick) > device.error_factor;
}

/// The pattern that takes most of a layout's weighted time.
std::size_t heaviest(const Variable& variable, const Layout& layout) {
  std::size_t heaviest = 0;
  const auto share = [&](std::size_t p) { return variable.patterns[p].weight * layout.costs[p].seconds; };
  for (std::size_t p = 1; p < layout.costs.size(); ++p) {
    if (share(p) > share(heaviest)) heaviest = p;
  }
  return heaviest;
}

std::string verdict_text(const AdviseReport& report, const Variable& variable) {
  const Layout& pick = *variable.find(Layout::Kind::recommended);
  const Layout* now = variable.find(Layout::Kind::current);
  const auto slowest = [&](const Layout& layout) {
    const std::size_t p = heaviest(variable, layout);
    return fmt::format("{} takes {}, {} of it {}", variable.patterns[p].name, brief_seconds(layout.costs[p].seconds),
                       brief_seconds(layout.costs[p].terms.largest_s()), layout.costs[p].dominating());
  };
  if (now == nullptr) return fmt::format("With {}, {}.", chunk_text(pick.chunk), slowest(pick));
  std::string text = fmt::format("Now {}. ", slowest(*now));
  const double gain = gain_of(*now, pick);
  const char* better = report.objective == "cost" ? "cheaper" : "faster";
  if (now->chunk == pick.chunk) {
    text += "No better layout was found: leave it as it is.";
  } else if (!pays(variable, report.device)) {
    text +=
        fmt::format("Recommended is {} times {}, less than the model can be wrong (a factor of {}): leave it as it is.",
                    ratio_text(gain), better, error_text(report.device));
  } else {
    text += fmt::format("Recommended is {} times {}: {}.", ratio_text(gain), better, slowest(pick));
  }
  return text;
}

/// "time/516,y/20,x/25"; axis numbers where a name would not survive the command line.
std::string lengths_spec(const Shape& box, const Variable& variable) {
  std::string lengths;
  for (int axis = 0; axis < box.rank(); ++axis) {
    std::string label = variable.axes.label(axis);
    if (label.find_first_of(",/:=@") != std::string::npos) label = std::to_string(axis);
    lengths += fmt::format("{}{}/{}", axis == 0 ? "" : ",", label, box[axis]);
  }
  return lengths;
}

/// "T:", or nothing where there is no variable. The last part of the path names it, unless another has the same.
std::string variable_spec(const Variable& variable, const std::vector<Variable>& all) {
  if (!variable.exists) return {};
  const auto last_part = [](const std::string& path) { return path.substr(path.rfind('/') + 1); };
  const std::string name = last_part(variable.meta.path);
  const auto n_same =
      std::count_if(all.begin(), all.end(), [&](const Variable& other) { return last_part(other.meta.path) == name; });
  return (n_same > 1 ? variable.meta.path : name) + ":";
}

/// "air.nc" -> "air-fast.nc".
std::string fast_name(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  const auto slash = path.rfind('/');
  const auto dot = path.rfind('.');
  const bool has_suffix = dot != std::string::npos && (slash == std::string::npos || dot > slash + 1) && dot > 0;
  return has_suffix ? path.substr(0, dot) + "-fast" + path.substr(dot) : path + "-fast";
}

std::string command_text(const AdviseReport& report) {
  std::vector<const Variable*> worth;
  for (const auto& variable : report.variables) {
    if (pays(variable, report.device) && variable.find(Layout::Kind::recommended)->chunk) worth.push_back(&variable);
  }
  if (worth.empty()) return {};
  const std::string start = fmt::format("  rechunk {} {}", shell_word(report.file), shell_word(fast_name(report.file)));
  std::vector<std::string> specs;
  std::string more;
  if (worth.size() > kMostSpecs && report.is_default && !report.is_directory) {
    specs.push_back("-c auto");
  } else {
    std::size_t n_shown = 0;
    for (const Variable* variable : worth) {
      if (specs.size() >= kMostSpecs) {
        more =
            fmt::format("  ({} more variables: \"recommended\" in --json has their chunks)\n", worth.size() - n_shown);
        break;
      }
      ++n_shown;
      const Layout& pick = *variable->find(Layout::Kind::recommended);
      const std::string name = variable_spec(*variable, report.variables);
      specs.push_back(fmt::format("-c {}", shell_word(name + lengths_spec(*pick.chunk, *variable))));
      if (variable->meta.shards.empty()) continue;
      const std::string lengths = pick.shard ? lengths_spec(*pick.shard, *variable) : "none";
      specs.push_back(fmt::format("--shards {}", shell_word(name + lengths)));
    }
  }
  std::string text = start;
  std::size_t column = start.size();
  for (const auto& spec : specs) {
    if (column + 1 + spec.size() > kTextColumns - 2) {
      text += " \\\n     ";
      column = 5;
    }
    text += " " + spec;
    column += 1 + spec.size();
  }
  return "To rewrite:\n" + text + "\n" + more;
}

}  // namespace

const Layout* AdviseReport::Variable::find(Layout::Kind kind) const {
  const auto found =
      std::find_if(layouts.begin(), layouts.end(), [kind](const Layout& layout) { return layout.kind == kind; });
  return found == layouts.end() ? nullptr : &*found;
}

double AdviseReport::worst_gain() const {
  double worst = 1;
  for (const auto& variable : variables) {
    const Layout* now = variable.find(Layout::Kind::current);
    if (now != nullptr) worst = std::max(worst, gain_of(*now, *variable.find(Layout::Kind::recommended)));
  }
  return worst;
}

std::string AdviseReport::worst_variable() const {
  for (const auto& variable : variables) {
    const Layout* now = variable.find(Layout::Kind::current);
    if (now != nullptr && gain_of(*now, *variable.find(Layout::Kind::recommended)) >= worst_gain()) {
      return variable.meta.path;
    }
  }
  return {};
}

std::string advise_text(const AdviseReport& report, bool explain) {
  std::string text;
  if (!report.file.empty()) text += wrap(fmt::format("{} ({})", report.file, report.format), 2);
  const Device& device = report.device;
  const std::string origin =
      device.calibrated.empty() ? "typical values, not calibrated" : fmt::format("calibrated {}", device.calibrated);
  text += wrap(fmt::format("device {}: {}, {}: right within a factor of {}", device.name, device.summary, origin,
                           error_text(device)),
               2);
  if (report.log) {
    const auto& log = *report.log;
    const auto n = [](std::uint64_t count) { return format_count(static_cast<std::int64_t>(count)); };
    text += wrap(fmt::format("log {}: {} lines: {} reads of data, {} of metadata, {} failed, {} not understood{}",
                             log.file, n(log.lines), n(log.recognised), n(log.metadata), n(log.failed), n(log.other),
                             log.first_other.empty() ? "" : fmt::format(" (the first: {})", log.first_other)),
                 2);
  }
  if (report.objective != "weighted") text += fmt::format("objective: {}\n", report.objective);
  text += "size: on disk; ratio: slowest access over fastest\n";
  for (const auto& g : group(report.variables)) {
    const Variable& variable = *g.variables.front();
    text.append("\n").append(wrap(head_text(g), 4));
    for (const auto& pattern : variable.patterns) {
      text += wrap(fmt::format("  {} x{}: {}", pattern.name, pattern.weight, describe(pattern, variable.axes)), 6);
    }
    for (const auto& note : variable.notes) text.append(wrap(fmt::format("  {}", note), 4));
    text.append("\n").append(table_text(variable)).append(wrap(verdict_text(report, variable), 0));
    if (explain) text.append("\n").append(explain_text(report, variable));
  }
  if (report.variables.empty()) text += "\nNo variable of two or more dimensions to advise on.\n";
  const std::string command = command_text(report);
  if (!command.empty()) text += "\n" + command;
  if (!report.skipped.empty()) {
    std::string list;
    for (std::size_t i = 0; i < std::min(kMostSkipped, report.skipped.size()); ++i) {
      list += fmt::format("{}{} ({})", i == 0 ? "" : ", ", report.skipped[i].path, report.skipped[i].why);
    }
    if (report.skipped.size() > kMostSkipped) list += fmt::format(" and {} more", report.skipped.size() - kMostSkipped);
    text.append("\n").append(wrap(fmt::format("Not advised on: {}", list), 2));
  }
  return text;
}

}  // namespace chunkwise
