#include "help_text.h"

#include <fmt/format.h>
#include <tbb/version.h>
#include <xxhash.h>

#include <algorithm>
#include <utility>

#include "codec/libraries.h"
#include "codec/registry.h"
#include "format/registry.h"
#include "report/text_table.h"

namespace chunkwise {
namespace {

constexpr std::size_t kNameColumns = 28;
constexpr std::size_t kLeastTextColumns = 20;

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

}  // namespace

void group_options(CLI::App& app, const std::string& title, const std::vector<std::string>& options) {
  for (const std::string& name : options) app.get_option(name)->group(title);
}

HelpFormatter::HelpFormatter() {
  column_width(kNameColumns);
}

std::string HelpFormatter::make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const {
  std::string text = CLI::Formatter::make_help(app, std::move(name), mode);
  for (auto gap = text.find("\n\n\n"); gap != std::string::npos; gap = text.find("\n\n\n", gap)) text.erase(gap, 1);
  return text;
}

std::string HelpFormatter::make_description(const CLI::App* app) const {
  return wrap(one_line(app->get_description()), 0);
}

std::string HelpFormatter::make_option_opts(const CLI::Option* option) const {
  if (option->get_positional() || option->get_type_size() == 0) return {};
  const std::string type = option->get_type_name();
  const auto range = type.find(":INT in [");  // a validator's words
  return " " + type.substr(0, range);
}

std::string HelpFormatter::make_option_desc(const CLI::Option* option) const {
  const std::size_t columns = std::max(text_columns(), kNameColumns + kLeastTextColumns);
  std::string text = wrap(one_line(option->get_description()), 0, columns - kNameColumns);
  text.pop_back();
  return text;
}

std::string version_text(const std::string& command) {
  std::vector<std::string> libraries = format_libraries();
  for (std::string& library : codec_libraries()) libraries.push_back(std::move(library));
  libraries.push_back(fmt::format("oneTBB {}.{}", TBB_VERSION_MAJOR, TBB_VERSION_MINOR));
  const unsigned hash = XXH_versionNumber();  // 801 is 0.8.1
  libraries.push_back(fmt::format("xxHash {}.{}.{}", hash / 10000, hash / 100 % 100, hash % 100));
  std::vector<std::string_view> formats;
  for (const FormatRow& row : format_rows()) formats.push_back(row.name);
  std::vector<std::string_view> written;
  std::vector<std::string_view> kept;
  for (const CodecRow& row : codec_rows()) (row.parse != nullptr ? written : kept).push_back(row.name);
  return fmt::format("{} {}\n", command, CHUNKWISE_VERSION) +
         wrap(fmt::format("libraries: {}", fmt::join(libraries, ", ")), 2) +
         wrap(fmt::format("formats: {}", fmt::join(formats, ", ")), 2) +
         wrap(fmt::format("codecs: {}; only read or kept: {}", fmt::join(written, ", "), fmt::join(kept, ", ")), 2);
}

}  // namespace chunkwise
