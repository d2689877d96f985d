// What the commands share: arguments to options, errors to sentences and exit codes.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace chunkwise {

/// Parses; returns 0 after --help or --version (printed on stdout). Throws Error{usage} with a suggestion for unknown
/// options.
std::optional<int> parse_command_line(CLI::App& app, int argc, char** argv);

/// Throws Error{usage} naming the option and its values unless `value` is one of them.
void require_one_of(const std::string& option, const std::string& value, const std::vector<std::string>& known);

/// Runs a command's body and turns what it throws into a sentence on stderr and an exit code. A closed stdout is
/// silent.
int run_command(const char* name, const std::function<int()>& body);

}  // namespace chunkwise
