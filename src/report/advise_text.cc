#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/sizes.h"
#include "report/advise_words.h"
#include "report/text_table.h"

namespace chunkwise {
namespace {

using Layout = AdviseReport::Layout;
using Variable = AdviseReport::Variable;

constexpr std::size_t kMostSkipped = 6;
/// From so many tables on they show only the fastest policies; from the second number on there is one row for each.
constexpr std::size_t kFullTables = 2;
constexpr std::size_t kTables = 6;
constexpr std::size_t kFastPolicies = 5;
constexpr std::size_t kMostGroups = 40;

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
  text += fmt::format("{} ({})  {}", meta.dtype.name(), dims, bytes_words(decoded_bytes(meta.shape, meta.dtype.bytes)));
  if (!variable.exists) return text;
  text += fmt::format(", stored {}{}", meta.count_is_estimate ? "about " : "", format_bytes(meta.stored_bytes));
  if (meta.storage == Storage::chunked) {
    text += fmt::format(", {} chunk{} of {}", format_count(variable.n_chunks), variable.n_chunks == 1 ? "" : "s",
                        chunk_words(meta.chunk));
    if (!meta.shards.empty()) text += fmt::format(" in shards of {}", chunk_words(meta.unit()));
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

/// With the fastest `n_policies` only: of a policy that is left out, or is as another, the name is told.
Rows merge_rows(const Variable& variable, std::size_t n_policies) {
  Rows rows;
  std::size_t n_shown = 0;
  std::size_t n_left_out = 0;
  std::vector<std::pair<const Layout*, std::string>> others;  // a row and the further policies it stands for
  for (const auto& layout : variable.layouts) {
    const auto same = std::find_if(rows.layouts.begin(), rows.layouts.end(), [&](const Layout* row) {
      return row->kind == Layout::Kind::policy && layout.kind == Layout::Kind::policy && row->chunk == layout.chunk;
    });
    if (same == rows.layouts.end()) {
      const bool is_policy = layout.kind == Layout::Kind::policy;
      if (is_policy && n_shown >= n_policies) {
        ++n_left_out;
        continue;
      }
      n_shown += is_policy ? 1 : 0;
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
  if (n_left_out > 0) rows.also = fmt::format("And {} slower policies (--top 99 shows them)\n", n_left_out);
  for (const auto& [row, names] : others) rows.also += wrap(fmt::format("As {}: {}", row->name, names), 2);
  return rows;
}

std::string table_text(const Variable& variable, std::size_t n_policies) {
  const std::size_t n_patterns = variable.patterns.size();
  const Rows rows = merge_rows(variable, n_policies);
  const auto fixed = [&] {
    TextColumn name{"layout", false, 0, {}};
    TextColumn chunks{"chunks", false, 0, {}};
    for (const Layout* layout : rows.layouts) {
      name.cells.push_back(layout->name);
      chunks.cells.push_back(chunk_words(layout->chunk));
    }
    return std::vector<TextColumn>{name, chunks};
  };
  std::vector<TextColumn> columns = fixed();
  TextColumn chunk_size{"chunk", true, 3, {}};
  TextColumn weighted{"weighted", true, 2, {}};
  TextColumn ratio{"worst/best", true, 1, {}};
  TextColumn size{"size", true, 0, {}};
  for (const Layout* layout : rows.layouts) {
    chunk_size.cells.push_back(layout->chunk ? brief_bytes(decoded_bytes(*layout->chunk, variable.meta.dtype.bytes))
                                             : "-");
    weighted.cells.push_back(brief_seconds(layout->weighted_s));
    ratio.cells.push_back(ratio_words(worst_to_best(*layout)));
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

/// What the sizes are from.
std::string sample_text(const Variable& variable) {
  if (!variable.sample) return {};
  const auto& sample = *variable.sample;
  if (sample.n_boxes == 0) return wrap(fmt::format("  sizes as compressed now: {}", sample.why_not), 4);
  const Layout& pick = *variable.find(Layout::Kind::recommended);
  std::string text = fmt::format("  sizes from {} of data in {} place{}, encoded again",
                                 format_bytes(sample.decoded_bytes), sample.n_boxes, sample.n_boxes == 1 ? "" : "s");
  if (pick.size_is_sampled) {
    text += fmt::format(": recommended {} to {}", brief_bytes(pick.size_low_bytes), brief_bytes(pick.size_high_bytes));
  }
  return wrap(text, 4);
}

/// One row a group: too many for a table each.
std::string summary_text(const std::vector<Group>& groups, const Device& device) {
  TextColumn name{"variables", false, 0, {}};
  TextColumn chunks{"chunks", false, 0, {}};
  TextColumn now_s{"now", true, 0, {}};
  TextColumn pick{"recommended", false, 0, {}};
  TextColumn then_s{"then", true, 0, {}};
  TextColumn size{"size", true, 1, {}};
  TextColumn rewrite{"rewrite", true, 2, {}};
  for (std::size_t i = 0; i < std::min(groups.size(), kMostGroups); ++i) {
    const Variable& variable = *groups[i].variables.front();
    const Layout* now = variable.find(Layout::Kind::current);
    const Layout& best = *variable.find(Layout::Kind::recommended);
    const bool leave = now != nullptr && !pays(variable, device);
    const std::size_t n_more = groups[i].variables.size() - 1;
    std::string path = variable.meta.path;
    constexpr std::size_t kLongest = 24;
    if (path.size() > kLongest) path = fmt::format("..{}", std::string_view(path).substr(path.size() - kLongest + 2));
    name.cells.push_back(path + (n_more == 0 ? "" : fmt::format(" +{}", n_more)));
    chunks.cells.push_back(now == nullptr ? "-" : chunk_words(now->chunk));
    now_s.cells.push_back(now == nullptr ? "-" : brief_seconds(now->weighted_s));
    pick.cells.push_back(leave ? "leave it" : chunk_words(best.chunk));
    then_s.cells.push_back(leave ? "" : brief_seconds(best.weighted_s));
    size.cells.push_back(brief_bytes(leave ? now->size_bytes : best.size_bytes));
    rewrite.cells.push_back(leave || !variable.rewrite ? "" : brief_seconds(variable.rewrite->seconds));
  }
  std::string text = format_table({name, chunks, now_s, pick, then_s, size, rewrite});
  if (groups.size() > kMostGroups) text += fmt::format("And {} more (--json has them)\n", groups.size() - kMostGroups);
  return text + "Of the one that gains most:\n";
}

const Group& most_gained(const std::vector<Group>& groups) {
  const auto gain_s = [](const Group& g) {
    const Layout* now = g.variables.front()->find(Layout::Kind::current);
    const Layout& best = *g.variables.front()->find(Layout::Kind::recommended);
    return now == nullptr ? 0.0 : (now->weighted_s - best.weighted_s) * static_cast<double>(g.variables.size());
  };
  return *std::max_element(groups.begin(), groups.end(),
                           [&](const Group& a, const Group& b) { return gain_s(a) < gain_s(b); });
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
    if (now != nullptr) worst = std::max(worst, gain_over(*now, *variable.find(Layout::Kind::recommended)));
  }
  return worst;
}

std::string AdviseReport::worst_variable() const {
  for (const auto& variable : variables) {
    const Layout* now = variable.find(Layout::Kind::current);
    if (now != nullptr && gain_over(*now, *variable.find(Layout::Kind::recommended)) >= worst_gain()) {
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
  text += wrap(fmt::format("device {}: {}, {}: right within a factor of {}; client {}", device.name, device.summary,
                           origin, fmt::format("{:.3g}", device.error_factor.value), report.client),
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
  if (!report.to.empty() && report.to != report.format && !report.file.empty()) {
    text +=
        fmt::format("advised for {}{}\n", report.to,
                    report.n_losses == 0 ? "" : ", which cannot keep all of the file: rechunk --dry-run lists what");
  }
  if (report.max_objects)
    text += fmt::format("at most {} objects for each array\n", count_words(static_cast<double>(*report.max_objects)));
  if (report.max_client_bytes)
    text += fmt::format("at most {} of chunks in a client\n", format_bytes(*report.max_client_bytes));
  const auto groups = group(report.variables);
  const bool summary = groups.size() > kTables;
  text += "size: on disk, with padding and index; worst/best: slowest access over fastest\n";
  if (summary) text.append("\n").append(summary_text(groups, report.device));
  for (const auto& g : groups) {
    // A page is enough: where there are many, the one that gains most stands for all.
    if (summary && &g != &most_gained(groups)) continue;
    const Variable& variable = *g.variables.front();
    text.append("\n").append(wrap(head_text(g), 4));
    for (const auto& pattern : variable.patterns) {
      text += wrap(fmt::format("  {} x{}: {}", pattern.name, pattern.weight, describe(pattern, variable.axes)), 6);
    }
    for (const auto& note : variable.notes) text.append(wrap(fmt::format("  {}", note), 4));
    text += sample_text(variable);
    const bool all = report.shows_all_policies || groups.size() <= kFullTables;
    text.append("\n")
        .append(table_text(variable, all ? SIZE_MAX : kFastPolicies))
        .append(verdict_text(report, variable));
    if (explain) text.append("\n").append(explain_text(report, variable));
  }
  if (report.variables.empty()) text += "\nNo variable of two or more dimensions to advise on.\n";
  const std::string command = command_text(report);
  if (!command.empty()) text.append("\n").append(command);
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
