// What the commands share: arguments to options, errors to sentences and exit codes.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace chunkwise {

/// Adds --help, --help-all (which ends with `details`), --version and --explain-error, and parses. Returns 0 after one
/// of those (printed on stdout). Throws Error{usage} with a suggestion for unknown options.
std::optional<int> parse_command_line(CLI::App& app, int argc, char** argv, const std::string& details = {});

/// Throws Error{usage} if `path`, given as `what`, is "-".
void refuse_standard_stream(const std::string& what, const std::string& path);

/// Throws Error{usage} naming the option and its values unless `value` is one of them.
void require_one_of(const std::string& option, const std::string& value, const std::vector<std::string>& known);

/// Writes to stderr; what cannot be written there is lost.
void tell(const std::string& text);

/// Runs a command's body and turns what it throws into a sentence on stderr and an exit code. If nobody reads stdout
/// any more, the process ends silently by SIGPIPE, after its work.
int run_command(const char* name, const std::function<int()>& body);

}  // namespace chunkwise
