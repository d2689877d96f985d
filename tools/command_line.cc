#include "command_line.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iostream>
#include <new>

#include "base/error.h"
#include "base/suggest.h"

namespace chunkwise {
namespace {

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

[[noreturn]] void unknown_arguments(const CLI::App& app) {
  const std::vector<std::string> extras = app.remaining();
  const auto option =
      std::find_if(extras.begin(), extras.end(), [](const std::string& text) { return text.rfind('-', 0) == 0; });
  if (option == extras.end())
    throw Error(Code::usage, fmt::format("unexpected argument '{}'", extras.empty() ? "" : extras.front()),
                fmt::format("see {} --help", app.get_name()));
  const std::string name = option->substr(0, option->find('='));
  throw Error(Code::usage, fmt::format("unknown option '{}'", name), suggest(name, option_names(app)));
}

}  // namespace

std::optional<int> parse_command_line(CLI::App& app, int argc, char** argv) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    std::cout << app.help();
    return 0;
  } catch (const CLI::CallForVersion& version) {
    std::cout << version.what() << '\n';
    return 0;
  } catch (const CLI::ExtrasError&) {
    unknown_arguments(app);
  } catch (const CLI::ParseError& e) {
    // A missing argument is often the echo of a mistyped option that swallowed it.
    for (const std::string& extra : app.remaining())
      if (extra.rfind('-', 0) == 0) unknown_arguments(app);
    throw Error(Code::usage, e.what(), fmt::format("see {} --help", app.get_name()));
  }
  return std::nullopt;
}

void require_one_of(const std::string& option, const std::string& value, const std::vector<std::string>& known) {
  if (std::find(known.begin(), known.end(), value) != known.end()) return;
  throw Error(Code::usage, fmt::format("{} cannot be '{}'", option, value),
              fmt::format("it is one of {}", fmt::join(known, ", ")));
}

int run_command(const char* name, const std::function<int()>& body) {
  signal(SIGPIPE, SIG_IGN);  // a closed pipe and a full quota are write errors, not deaths
  signal(SIGXFSZ, SIG_IGN);
  try {
    const int code = body();
    std::cout.flush();
    // A reader that has seen enough is no error.
    if (!std::cout && errno != EPIPE)
      throw Error(Code::io, fmt::format("cannot write the report: {}", std::strerror(errno)), "is the disk full?");
    return code;
  } catch (const Error& e) {
    fmt::print(stderr, "{}: {}: {}\n", name, code_name(e.code()), e.what());
    if (!e.hint().empty()) fmt::print(stderr, "  {}\n", e.hint());
    return static_cast<int>(e.code());
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "{}: out of memory\n  give less --memory, or free some\n", name);
    return static_cast<int>(Code::budget);
  } catch (const std::exception& e) {
    fmt::print(stderr, "{}: internal error: {}\n  please report this with the command you ran\n", name, e.what());
    return static_cast<int>(Code::internal);
  }
}

}  // namespace chunkwise
