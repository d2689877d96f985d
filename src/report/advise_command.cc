// The command that applies the advice.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "report/advise_words.h"
#include "report/text_table.h"

namespace chunkwise {
namespace {

using Layout = AdviseReport::Layout;
using Variable = AdviseReport::Variable;

constexpr std::size_t kMostSpecs = 8;

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

/// "air.nc" -> "air-fast.nc", or "air-fast.zarr" for another format.
std::string fast_name(std::string path, std::string_view suffix) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  const auto slash = path.rfind('/');
  const auto dot = path.rfind('.');
  const bool has_suffix = dot != std::string::npos && (slash == std::string::npos || dot > slash + 1) && dot > 0;
  if (!has_suffix) return path + "-fast" + std::string(suffix);
  return path.substr(0, dot) + "-fast" + (suffix.empty() ? path.substr(dot) : std::string(suffix));
}

/// What a dataset of the format advised for is usually named, where that is another than the file's.
std::string_view new_suffix(const AdviseReport& report) {
  if (report.to.empty() || report.to == report.format) return {};
  return report.to == "nc4" ? ".nc" : report.to == "h5" ? ".h5" : ".zarr";
}

std::vector<const Variable*> worth_it(const AdviseReport& report) {
  std::vector<const Variable*> worth;
  for (const auto& variable : report.variables) {
    if (pays(variable, report.device) && variable.find(Layout::Kind::recommended)->chunk) worth.push_back(&variable);
  }
  return worth;
}

std::string command_start(const AdviseReport& report) {
  const std::string_view suffix = new_suffix(report);
  std::string start = fmt::format("rechunk {} {}", shell_path(report.file), shell_path(fast_name(report.file, suffix)));
  if (!suffix.empty()) start += " --to " + report.to;
  return start;
}

/// The options for one variable.
std::vector<std::string> options_of(const Variable& variable, const AdviseReport& report) {
  const Layout& pick = *variable.find(Layout::Kind::recommended);
  const std::string name = variable_spec(variable, report.variables);
  std::vector<std::string> options = {fmt::format("-c {}", shell_word(name + lengths_spec(*pick.chunk, variable)))};
  if (pick.codecs != variable.target.codecs)
    options.push_back(fmt::format("--codec {}", shell_word(name + to_string(pick.codecs))));
  if (!variable.target.shards.empty() || pick.shard) {
    const std::string lengths = pick.shard ? lengths_spec(*pick.shard, variable) : "none";
    options.push_back(fmt::format("--shards {}", shell_word(name + lengths)));
  }
  return options;
}

}  // namespace

std::string command_line(const AdviseReport& report) {
  const auto worth = worth_it(report);
  if (worth.empty()) return {};
  std::string line = command_start(report);
  for (const Variable* variable : worth) {
    for (const auto& option : options_of(*variable, report)) line += " " + option;
  }
  return line;
}

std::string command_text(const AdviseReport& report) {
  const auto worth = worth_it(report);
  if (worth.empty()) return {};
  std::vector<std::string> specs;
  std::string more;
  if (worth.size() > kMostSpecs && report.is_default && !report.is_directory) {
    specs.push_back("-c auto");
  } else {
    std::size_t n_shown = 0;
    for (const Variable* variable : worth) {
      if (specs.size() >= kMostSpecs) {
        more = fmt::format("  ({} more variables: \"command\" in --json has them all)\n", worth.size() - n_shown);
        break;
      }
      ++n_shown;
      for (auto& option : options_of(*variable, report)) specs.push_back(std::move(option));
    }
  }
  std::string text = "  " + command_start(report);
  std::size_t column = text.size();
  for (const auto& spec : specs) {
    if (column + 1 + spec.size() > text_columns() - 2) {
      text += " \\\n     ";
      column = 5;
    }
    text += " " + spec;
    column += 1 + spec.size();
  }
  return "To rewrite:\n" + text + "\n" + more;
}

}  // namespace chunkwise
