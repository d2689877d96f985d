// The command `rechunk`: arguments in, report and exit code out.
#include <fcntl.h>
#include <fmt/format.h>
#include <malloc.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <initializer_list>
#include <iostream>
#include <new>
#include <thread>

#include "app/advise.h"
#include "app/rechunk.h"
#include "base/error.h"
#include "base/sizes.h"
#include "codec/registry.h"
#include "command_line.h"
#include "format/registry.h"
#include "help_text.h"
#include "progress.h"
#include "report/text_table.h"
#include "store/local_path.h"

namespace {

using namespace chunkwise;

constexpr const char* kExamples = R"(Examples:
  rechunk air.nc fast.nc -c time/516,y/20,x/25
      the variables that have these dimensions get these chunks, all else stays
  rechunk air.nc air.zarr --codec zstd:3
      to Zarr v3, chunks kept
  rechunk air.nc air.zarr -c time/100,y/28,x/35 --shards time/500,y/all,x/all
      the same, many chunks to one object
  rechunk air.nc fast.nc -c T:4MiB -c P:keep --codec T:shuffle,deflate:4 --memory 512MiB
  rechunk in.h5 out.h5 -c auto --dry-run
      let the advisor choose, show the plan, write nothing
  rechunk big.nc fast.nc -c T:4MiB --resume
      as before, after it was interrupted or killed: what is done is kept
  rechunk --plan-only big.nc fast.zarr -c T:4MiB --memory 2GiB
  rechunk --part 1/4 big.nc fast.zarr     and 2/4, 3/4, 4/4, anywhere
  rechunk --finish big.nc fast.zarr
      the same by four processes

Chunks:  dim/N,dim/N  (N = all: the whole axis), N,N,N by position, a size,
         auto, keep, contiguous; VAR:... for one variable
Shards:  the same, whole chunks on every axis; or a size, keep, none
Signals: SIGINT ends within seconds and keeps what is done; SIGUSR1 prints how
         things stand
Paths:   one that begins with a dash stands behind --, or begins with ./)";

/// What can be named after --to and --codec.
std::string formats_and_codecs() {
  std::string text = "Formats, by --to or the suffix of DST:\n";
  for (const FormatRow& row : format_rows())
    text += fmt::format("  {:<6}  {}; {}\n", row.name, row.summary, row.suffixes);
  text += "Codecs:\n";
  for (const CodecRow& row : codec_rows()) {
    if (row.parse == nullptr) continue;
    const auto end = std::min(row.usage.find("  "), row.usage.size());
    const std::string_view what = row.usage.substr(std::min(row.usage.find_first_not_of(' ', end), row.usage.size()));
    text += wrap(fmt::format("  {}  {}", row.usage.substr(0, end), what.empty() ? row.summary : what), 6);
  }
  return text;
}

/// Keeps the allocator from holding what was given back: the memory promise is about the whole process.
void bound_allocator() {
  mallopt(M_ARENA_MAX, 2);
  mallopt(M_MMAP_THRESHOLD, 1024 * 1024);
  mallopt(M_TRIM_THRESHOLD, 4 * 1024 * 1024);
}

/// Turns SIGINT, SIGTERM and SIGHUP into a stop request; a second one ends the process at once. SIGUSR1 has the state
/// printed.
class SignalStop {
 public:
  explicit SignalStop(ProgressPrinter& printer) {
    sigemptyset(&set_);
    sigaddset(&set_, SIGUSR1);
    sigaddset(&set_, SIGINT);
    sigaddset(&set_, SIGTERM);
    struct sigaction hangup {};
    if (sigaction(SIGHUP, nullptr, &hangup) == 0 && hangup.sa_handler != SIG_IGN) sigaddset(&set_, SIGHUP);  // nohup
    pthread_sigmask(SIG_BLOCK, &set_, nullptr);
    thread_ = std::jthread([this, &printer](const std::stop_token& done) {
      const timespec wait{0, 100'000'000};
      while (!done.stop_requested()) {
        const int which = sigtimedwait(&set_, nullptr, &wait);
        if (which <= 0) continue;
        if (which == SIGUSR1) {
          printer.print_state();
          continue;
        }
        if (source_.stop_requested()) _exit(static_cast<int>(Code::interrupted));
        source_.request_stop();
      }
    });
  }
  std::stop_token token() const { return source_.get_token(); }

 private:
  sigset_t set_{};
  std::stop_source source_;
  std::jthread thread_;
};

/// Steps of one rewrite by several processes: which one it is, without options that would do nothing in it.
void read_step(const CLI::App& app, bool plans, const std::string& part, bool finishes, RechunkRequest& request) {
  if (static_cast<int>(plans) + static_cast<int>(!part.empty()) + static_cast<int>(finishes) > 1)
    throw Error(Code::usage, "--plan-only, --part and --finish are steps one after the other", "see docs/cluster.md");
  const auto refuse = [&app](const char* step, std::initializer_list<const char*> names, const char* hint) {
    for (const char* name : names)
      if (app.get_option(name)->count() > 0)
        throw Error(Code::usage, fmt::format("{} does nothing with {}", name, step), hint);
  };
  if (plans) {
    request.step = RechunkStep::plan;
    refuse("--plan-only", {"--resume", "--dry-run", "--stats"}, "leave it out");
    refuse("--plan-only", {"--scratch"}, "parts read the source as often as their memory makes necessary");
    refuse("--plan-only", {"--verify"}, "give it with --finish");
  } else if (!part.empty() || finishes) {
    const char* const step = finishes ? "--finish" : "--part";
    request.step = finishes ? RechunkStep::finish : RechunkStep::part;
    refuse(step,
           {"--chunks", "--shards", "--codec", "--to", "--variable", "--exclude", "--memory", "-j", "--allow-loss"},
           "it belongs to --plan-only; the plan says it");
    refuse(step, {"--resume"}, "leave it out: a step that is run again goes on where it ended");
    refuse(step, {"--dry-run", "--stats", "--scratch"}, "leave it out");
    if (!finishes) refuse(step, {"--verify", "--overwrite"}, "give it with --finish");
  }
  if (part.empty()) return;
  int length = 0;
  if (std::sscanf(part.c_str(), "%d/%d%n", &request.part, &request.n_parts, &length) != 2 ||
      static_cast<std::size_t>(length) != part.size() || request.part < 1 || request.part > request.n_parts)
    throw Error(Code::usage, fmt::format("--part {} is no part", part), "write I/N: from 1/8 to 8/8, for example");
}

int run(int argc, char** argv) {
  CLI::App app(
      "Rewrites a netCDF, HDF5 or Zarr dataset into other chunks, codecs or formats: parallel, inside a "
      "fixed memory, verified, with nothing lost. The target appears only when it is complete.");
  app.name("rechunk");
  app.footer(kExamples);
  RechunkRequest request;
  std::string memory;
  std::string verify = "sample";
  std::string progress = "auto";
  bool json = false;
  bool quiet = false;
  bool plans = false;
  bool finishes = false;
  std::string part;
  app.add_option("SRC", request.source, "dataset to read; never changed")->required();
  app.add_option("DST", request.target, "dataset to make")->required();
  app.add_option("-c,--chunks", request.chunks, "target chunks, see below; repeatable")
      ->take_all()
      ->expected(1)
      ->type_name("SPEC");
  app.add_option("--shards", request.shards, "Zarr v3: chunks to one object, see below; repeatable")
      ->take_all()
      ->expected(1)
      ->type_name("SPEC");
  app.add_option("--codec", request.codecs,
                 "keep (default), none, or e.g. shuffle,deflate:1  zstd:3; VAR:...; repeatable")
      ->take_all()
      ->expected(1)
      ->type_name("SPEC");
  app.add_option("--to", request.to, "nc4, h5, nc3, zarr2 or zarr3; default: by DST's suffix, else as SRC")
      ->type_name("FORMAT");
  app.add_option("--variable", request.variables, "only this variable and its coordinates; repeatable")
      ->take_all()
      ->expected(1)
      ->type_name("V");
  app.add_option("--exclude", request.exclude, "all but this variable; repeatable")
      ->take_all()
      ->expected(1)
      ->type_name("V");
  app.add_option("--memory", memory, "most memory of the whole process; default: half of what is available")
      ->type_name("SIZE");
  app.add_option("-j", request.n_threads, "threads; default: one per core")->type_name("N")->check(CLI::Range(1, 1024));
  app.add_option("--scratch", request.scratch,
                 "folder for what does not fit the memory at once, removed afterwards; none: read the source again "
                 "instead; default: beside DST")
      ->type_name("DIR");
  app.add_flag("--dry-run", request.dry_run, "show the plan, write nothing");
  app.add_flag("--overwrite", request.overwrite, "replace an existing target");
  app.add_flag("--resume", request.resume,
               "go on where an earlier run of this command ended; from the beginning if there is none");
  app.add_flag("--plan-only", plans, "first of three steps for many processes: write the plan down; docs/cluster.md");
  app.add_option("--part", part, "second step: do the I-th of N shares of the plan; again after it was killed")
      ->type_name("I/N");
  app.add_flag("--finish", finishes, "third step: check that all parts are there, verify, and give DST its name");
  app.add_flag("--allow-loss", request.allow_loss, "go on where the target format cannot keep something; it is listed");
  app.add_option("--verify", verify, "none, sample (default) or full")->type_name("MODE");
  app.add_flag("--json", json, "the report as JSON");
  app.add_option("--progress", progress, "auto, plain, json (an event a line, on stderr) or none")->type_name("HOW");
  app.add_flag("-q", quiet, "print only errors");
  app.add_flag("--stats", request.stats, "then measure the machine, and show how near to its limit every stage was");
  group_options(app, "Layout", {"--chunks", "--shards", "--codec", "--to"});
  group_options(app, "What is copied", {"--variable", "--exclude", "--allow-loss"});
  group_options(app, "Resources", {"--memory", "-j", "--scratch"});
  group_options(app, "Safety", {"--dry-run", "--overwrite", "--resume", "--verify"});
  group_options(app, "Many processes", {"--plan-only", "--part", "--finish"});
  group_options(app, "Output", {"--json", "--stats", "--progress", "-q"});
  if (const auto exit_code = parse_command_line(app, argc, argv, formats_and_codecs())) return *exit_code;
  refuse_standard_stream("SRC", request.source);
  refuse_standard_stream("DST", request.target);
  request.source = local_path(request.source);
  request.target = local_path(request.target);
  if (request.scratch != "none") request.scratch = local_path(request.scratch);

  if (!memory.empty()) {
    request.memory_bytes = parse_bytes(memory);
    if (request.memory_bytes == 0) throw Error(Code::usage, "--memory must be more than 0");
  }
  read_step(app, plans, part, finishes, request);
  request.verify = verify == "none" ? VerifyMode::none : (verify == "full" ? VerifyMode::full : VerifyMode::sample);
  require_one_of("--verify", verify, {"none", "sample", "full"});
  require_one_of("--progress", progress, {"auto", "plain", "json", "none"});
  request.advise = recommended_chunk;

  using Style = ProgressPrinter::Style;
  Style style = Style::none;
  if (!quiet && progress != "none")
    style = progress == "json"                                 ? Style::json
            : progress == "auto" && isatty(STDERR_FILENO) != 0 ? Style::terminal
                                                               : Style::plain;
  ProgressPrinter printer(style, quiet);
  RechunkObserver observer;
  observer.progress = [&printer](const char* phase, const Progress& p) { printer.progress(phase, p); };
  observer.log = [&printer](LogLevel level, const std::string& message) { printer.log(level, message); };

  const SignalStop stop(printer);
  RechunkReport report;
  try {
    report = rechunk(request, observer, stop.token());
  } catch (const Error& error) {
    printer.fail(error);
    throw;
  }
  printer.finish();
  if (json)
    std::cout << rechunk_json(report) << '\n';
  else if (!quiet)
    std::cout << rechunk_text(report);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  bound_allocator();
  return chunkwise::run_command("rechunk", [&] { return run(argc, argv); });
}
