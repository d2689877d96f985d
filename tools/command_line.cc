#include "command_line.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <memory>
#include <new>

#include "base/error.h"
#include "base/suggest.h"
#include "exit_codes.h"
#include "help_text.h"

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

std::optional<int> parse_command_line(CLI::App& app, int argc, char** argv, const std::string& details) {
  const std::string command = app.get_name().substr(0, app.get_name().find(' '));
  constexpr const char* kAbout = "About";
  std::optional<int> explained;
  bool help_all = false;
  app.formatter(std::make_shared<HelpFormatter>());
  app.set_help_flag();
  app.set_help_flag("-h,--help", "this text")->group(kAbout);
  const bool has_more = !details.empty();
  if (has_more) app.add_flag("--help-all", help_all, "this text with everything that can be named")->group(kAbout);
  app.set_version_flag(
         "--version", [&command] { return version_text(command); }, "version, libraries, formats, codecs")
      ->group(kAbout);
  app.add_option("--explain-error", explained, "what an exit code means, and what to do")
      ->type_name("N")
      ->group(kAbout);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    std::cout << app.help();
    return 0;
  } catch (const CLI::CallForVersion& version) {
    std::cout << version.what();
    return 0;
  } catch (const CLI::ExtrasError&) {
    unknown_arguments(app);
  } catch (const CLI::ParseError& e) {
    // A missing argument is often the echo of a mistyped option that swallowed it.
    for (const std::string& extra : app.remaining())
      if (extra.rfind('-', 0) == 0) unknown_arguments(app);
    if (!help_all && !explained)  // these need no arguments
      throw Error(Code::usage, e.what(), fmt::format("see {} --help", app.get_name()));
  }
  if (explained) {
    std::cout << explain_exit_code(*explained);
    return 0;
  }
  if (help_all) {
    std::cout << app.help() << '\n' << details << exit_code_list(command);
    return 0;
  }
  return std::nullopt;
}

void refuse_standard_stream(const std::string& what, const std::string& path) {
  if (path != "-") return;
  throw Error(Code::usage, fmt::format("{} cannot be '-'", what),
              "datasets are read and written in many places at once, which a pipe cannot do;\n"
              "  name a file (one that is called '-' is ./-)");
}

void require_one_of(const std::string& option, const std::string& value, const std::vector<std::string>& known) {
  if (std::find(known.begin(), known.end(), value) != known.end()) return;
  const std::string nearest = suggest(value, known);
  const bool is_near = nearest.rfind("did you mean", 0) == 0;
  throw Error(Code::usage, fmt::format("{} cannot be '{}'", option, value),
              fmt::format("{}it is one of {}", is_near ? nearest + " " : "", fmt::join(known, ", ")));
}

void tell(const std::string& text) {
  std::fputs(text.c_str(), stderr);
}

namespace {

[[noreturn]] void end_by_broken_pipe() {
  signal(SIGPIPE, SIG_DFL);
  sigset_t pipe;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  pthread_sigmask(SIG_UNBLOCK, &pipe, nullptr);
  raise(SIGPIPE);
  _exit(128 + SIGPIPE);
}

}  // namespace

int run_command(const char* name, const std::function<int()>& body) {
  signal(SIGPIPE, SIG_IGN);  // a closed pipe and a full quota are write errors, not deaths
  signal(SIGXFSZ, SIG_IGN);
  try {
    const int code = body();
    std::cout.flush();
    if (!std::cout && errno == EPIPE) end_by_broken_pipe();  // a reader that has seen enough is no error
    if (!std::cout)
      throw Error(Code::io, fmt::format("cannot write the report: {}", std::strerror(errno)), "is the disk full?");
    return code;
  } catch (const Error& e) {
    tell(fmt::format("{}: {}: {}\n", name, code_name(e.code()), e.what()));
    if (!e.hint().empty()) tell(fmt::format("  {}\n", e.hint()));
    return static_cast<int>(e.code());
  } catch (const std::bad_alloc&) {
    tell(fmt::format("{}: out of memory\n  give less --memory, or free some\n", name));
    return static_cast<int>(Code::budget);
  } catch (const std::exception& e) {
    tell(fmt::format("{}: internal error: {}\n  please report this with the command you ran\n", name, e.what()));
    return static_cast<int>(Code::internal);
  }
}

}  // namespace chunkwise
