// How --help looks: groups in the order given, nothing wider than the terminal.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace chunkwise {

/// Puts options ("--chunks", "-j") under a title. Those never named stay under "Options".
void group_options(CLI::App& app, const std::string& title, const std::vector<std::string>& options);

/// Formats the help of `app` for text_columns().
class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter();
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override;
  std::string make_description(const CLI::App* app) const override;
  std::string make_option_opts(const CLI::Option* option) const override;
  std::string make_option_desc(const CLI::Option* option) const override;
};

/// What --version shows: version, libraries, formats, codecs.
std::string version_text(const std::string& command);

}  // namespace chunkwise
