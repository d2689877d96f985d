// The command `chunkadvise`: arguments in, report and exit code out.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>

#include <iostream>

#include "advise_timings.h"
#include "advise_validate.h"
#include "app/advise.h"
#include "base/error.h"
#include "base/sizes.h"
#include "base/suggest.h"
#include "command_line.h"
#include "help_text.h"
#include "model/policy.h"
#include "report/advise_report.h"
#include "report/text_table.h"
#include "store/local_path.h"

namespace {

using namespace chunkwise;

constexpr const char* kExamples = R"(Examples:
  chunkadvise air.nc
      every variable of two or more dimensions, for time series and maps
  chunkadvise air.nc T -a time-series@10 -a map -a 'box=time/24,y/50,x/50' --device hdd
      one variable, ten time series for every map and every box of a day
  chunkadvise air.zarr --candidate time/92,y/9,x/11 --explain
      price this layout too, and show the formula with its numbers
  chunkadvise --shape 98128,277,349 --dtype f4 --dims time,y,x --json
      no file yet

Accesses: NAME=dim/N,dim/N@WEIGHT; dim is a name or an axis number, N may be
  "all"; a dim not named is read whole; dim/N/STEP takes N elements STEP apart.
  Places are uniformly random. By name: time-series, map, profile, full.
Commands, each with its --help:
  calibrate  measure a device, or fit one to timed reads
  predict    timed reads beside what the model says of them
  validate   cold reads of the candidates, beside what the model says of them
  A file of such a name is ./predict.)";

std::string named_row(std::string_view name, std::string_view summary) {
  return wrap(fmt::format("  {:<14}{}", name, summary), 16);
}

/// What can be named after -a, --device, --client and --policy.
std::string named_things() {
  std::string text = "Accesses that have a name:\n";
  for (const auto& row : preset_rows()) text += named_row(row.name, row.summary);
  text += "Devices:\n";
  for (const auto& device : devices()) text += named_row(device.name, device.summary);
  text += "Clients, with +cache:SIZE (chunk cache), +latest (files for HDF5 1.10 and later only),\n";
  text += "+blockcache:SIZE, +readahead:SIZE (of remote files):\n";
  for (const auto& client : clients()) text += named_row(client.name, client.summary);
  text += "Policies, those with a size as NAME:SIZE:\n";
  for (const auto& row : policy_rows()) text += named_row(row.name, row.summary);
  text += "NCO's choice of variables, with one of its maps as nco-g3d+lfp:SIZE (rd1 without):\n";
  for (const auto& row : nco_variables()) text += named_row("nco-" + std::string(row.name), row.summary);
  return text;
}

std::vector<std::string> split_at_commas(const std::string& text) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  while (true) {
    const auto comma = text.find(',', begin);
    parts.push_back(text.substr(begin, comma == std::string::npos ? comma : comma - begin));
    if (comma == std::string::npos) return parts;
    begin = comma + 1;
  }
}

/// "64KiB:16MiB", "64KiB:" or ":16MiB".
SearchLimits parse_chunk_bytes(const std::string& text) {
  SearchLimits limits;
  const auto colon = text.find(':');
  if (colon == std::string::npos) {
    throw Error(Code::usage, "--chunk-bytes '" + text + "' is not MIN:MAX",
                "write for example --chunk-bytes 64KiB:16MiB");
  }
  if (colon > 0) limits.min_chunk_bytes = parse_bytes(text.substr(0, colon));
  if (colon + 1 < text.size()) limits.max_chunk_bytes = parse_bytes(text.substr(colon + 1));
  if (limits.max_chunk_bytes == 0 || limits.min_chunk_bytes.value_or(0) > limits.max_chunk_bytes) {
    throw Error(Code::usage, "--chunk-bytes '" + text + "': the greatest size is below the least",
                "the greatest is 16MiB where none is given");
  }
  return limits;
}

std::uint64_t parse_count(const std::string& option, const std::string& text) {
  if (text.empty() || text.size() > 18 || text.find_first_not_of("0123456789") != std::string::npos) {
    throw Error(Code::usage, option + " '" + text + "' is not a whole number", "write for example " + option + " 3");
  }
  return std::stoull(text);
}

/// `chunkadvise calibate`: a word that names no file and is near to a command.
void suggest_command(const std::string& word) {
  if (word.find_first_of("./") != std::string::npos || access(word.c_str(), F_OK) == 0) return;
  const std::string nearest = suggest(word, {"calibrate", "predict", "validate"});
  if (nearest.rfind("did you mean", 0) == 0)
    throw Error(Code::not_found, fmt::format("no such file: {}", word), nearest);
}

int run(int argc, char** argv) {
  CLI::App app(
      "Says how long the reads you care about take, which chunk shape would serve them best, and "
      "how that compares with the rules in use. Reads metadata, and some chunks of compressed variables.");
  app.name("chunkadvise");
  app.footer(kExamples);
  AdviseRequest request;
  std::string shape;
  std::string dims;
  std::string chunk_bytes;
  std::string top;
  std::string memory;
  std::string objects;
  std::string sample;
  std::string round = "floor";
  double price_per_GB = 0;
  double check_factor = 2;
  bool check = false;
  bool json = false;
  bool explain = false;
  app.add_option("FILE", request.path, "netCDF-4, HDF5 or Zarr dataset");
  app.add_option("VARIABLE", request.variables, "only these; default: all of two or more dimensions");
  app.add_option("-a,--access", request.accesses, "a read that matters, see below; repeatable")
      ->take_all()
      ->allow_extra_args(false)
      ->type_name("SPEC");
  app.add_option("--access-log", request.access_log,
                 "reads and their weights from the log of a data server: OPeNDAP requests\n"
                 "(THREDDS, Hyrax; common or combined format) or JSON lines")
      ->type_name("FILE");
  app.add_option("--device", request.device,
                 "where the data is: hdd, ssd, nvme, lustre, s3 or a profile file; default: the\nprofile calibrate "
                 "saved, else " +
                     std::string(kDefaultDevice))
      ->type_name("NAME|FILE");
  app.add_option("--client", request.client,
                 "who reads: a name below, with options behind it as in hdf5+blockcache:8MiB; default:\nthe usual one "
                 "for the format")
      ->type_name("NAME");
  app.add_option("--candidate", request.candidates, "price this layout too: dim/N,dim/N or contiguous; repeatable")
      ->take_all()
      ->allow_extra_args(false)
      ->type_name("SPEC");
  app.add_option("--policy", request.policies, "compare with this rule only; repeatable")
      ->take_all()
      ->allow_extra_args(false)
      ->type_name("NAME");
  app.add_option("--round", round, "how the policy rew rounds: floor (default) or ceil")->type_name("HOW");
  app.add_option("--top", top, "show only the N fastest policies")->type_name("N");
  app.add_option("--chunk-bytes", chunk_bytes,
                 "least and greatest chunk to recommend; default 4KiB to 16MiB, but\n"
                 "64KiB to 16MiB for arrays above 6.5 GB")
      ->type_name("MIN:MAX");
  app.add_option("--to", request.to,
                 "advise for this format: nc4, h5, zarr2, zarr3 (then with shards); default: the\nfile's")
      ->type_name("FORMAT");
  app.add_option("--memory", memory, "most that a client may hold of chunks while it reads one array")
      ->type_name("SIZE");
  app.add_option(
         "--objects", objects,
         "at most so many objects for each array: fewer, larger chunks, or shards (Zarr\nv3; 10,000 with --to zarr3)")
      ->type_name("N");
  app.add_option(
         "--codec-candidates", request.codec_candidates,
         "choose among these and the file's codecs, by encoding a sample of the data:\nshuffle,deflate:1,zstd:3,none; "
         "a chain ends with its compressor")
      ->take_all()
      ->allow_extra_args(false)
      ->type_name("LIST");
  app.add_option("--sample", sample,
                 "decode and encode so much of each compressed variable to learn sizes;\ndefault 256KiB where that is "
                 "quick; 0: none")
      ->type_name("SIZE");
  app.add_option("--objective", request.objective,
                 "what is best: weighted (default: the sum of weight times seconds), worst,\n"
                 "p95 or cost (of the requests and bytes)")
      ->type_name("NAME");
  app.add_option("--price-per-request", request.price_per_request, "for --objective cost; default 0.4e-6 (dollars)")
      ->type_name("X");
  app.add_option("--price-per-gb", price_per_GB, "for --objective cost, of 1e9 bytes read; default 0")->type_name("X");
  app.add_flag("--check", check,
               "exit 11 if the present layout is poor: slower than the recommended one by more than\n--check-factor, "
               "and than the model can be wrong");
  app.add_option("--check-factor", check_factor, "default 2")->type_name("X");
  app.add_option("--shape", shape, "advise on an array without a file")->type_name("N,N,...");
  app.add_option("--dtype", request.dtype, "its type: f4 (default), i2, u1, f8, ...")->type_name("TYPE");
  app.add_option("--dims", dims, "its dimension names")->type_name("NAME,...");
  app.add_flag("--count", request.count_exactly,
               "list every chunk; default: of Zarr arrays of more than 4,096 some, so that stored bytes are \"about\"");
  app.add_flag("--json", json, "the report as JSON");
  app.add_flag("--explain", explain, "show the formula with the numbers put in");
  group_options(
      app, "Question",
      {"--access", "--access-log", "--device", "--client", "--objective", "--price-per-request", "--price-per-gb"});
  group_options(app, "Layouts",
                {"--candidate", "--policy", "--round", "--top", "--chunk-bytes", "--to", "--memory", "--objects",
                 "--codec-candidates", "--sample"});
  group_options(app, "Without a file", {"--shape", "--dtype", "--dims"});
  group_options(app, "Output", {"--check", "--check-factor", "--count", "--json", "--explain"});
  if (const auto exit_code = parse_command_line(app, argc, argv, named_things())) return *exit_code;
  refuse_standard_stream("FILE", request.path);
  refuse_standard_stream("--access-log", request.access_log);
  suggest_command(request.path);
  request.path = local_path(request.path);

  require_one_of("--round", round, {"floor", "ceil"});
  request.round_up = round == "ceil";
  if (!shape.empty()) request.shape = parse_shape(shape);
  if (!dims.empty()) request.dims = split_at_commas(dims);
  if (!chunk_bytes.empty()) request.limits = parse_chunk_bytes(chunk_bytes);
  if (!top.empty()) {
    request.top = parse_count("--top", top);
  }
  if (!memory.empty()) {
    request.limits.max_client_bytes = parse_bytes(memory);
    if (request.limits.max_client_bytes == 0u) throw Error(Code::usage, "--memory must be more than 0");
  }
  if (!objects.empty()) {
    request.limits.max_objects = parse_count("--objects", objects);
    if (request.limits.max_objects == 0u) throw Error(Code::usage, "--objects must be more than 0");
  }
  if (!sample.empty()) {
    request.sample_bytes = parse_bytes(sample);
    if (!shape.empty()) throw Error(Code::usage, "--sample needs a FILE", "there is no data yet");
  }
  if (!(request.price_per_request >= 0 && price_per_GB >= 0)) throw Error(Code::usage, "a price is below 0");
  request.price_per_byte = price_per_GB / 1e9;
  if (!(check_factor >= 1)) throw Error(Code::usage, "--check-factor is below 1");
  if (!check && app.count("--check-factor") > 0) throw Error(Code::usage, "--check-factor needs --check");
  if (request.objective != "cost" && app.count("--price-per-request") + app.count("--price-per-gb") > 0)
    throw Error(Code::usage, "--price-per-request and --price-per-gb need --objective cost");
  if (request.count_exactly && !shape.empty())
    throw Error(Code::usage, "--count needs a FILE", "there are no chunks to count yet");
  if (check && !shape.empty()) throw Error(Code::usage, "--check needs a FILE", "there is no layout to check yet");
  if (json && explain) throw Error(Code::usage, "--json and --explain exclude each other", "choose one");

  const AdviseReport report = advise(request);
  std::cout << (json ? advise_json(report) : advise_text(report, explain));
  const double gain = report.worst_gain();
  if (check && gain > check_factor && gain > report.device.error_factor) {
    std::cout.flush();
    throw Error(Code::check_failed,
                fmt::format("{} could be read {:.3g} times {}", report.worst_variable(), gain,
                            report.objective == "cost" ? "cheaper" : "faster"),
                "the recommended layout is in the report");
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  // A file of such a name is ./predict.
  const std::string_view command = argc > 1 ? argv[1] : "";
  return chunkwise::run_command("chunkadvise", [&] {
    if (command == "predict") return chunkwise::run_predict(argc - 1, argv + 1);
    if (command == "validate") return chunkwise::run_validate(argc - 1, argv + 1);
    if (command == "calibrate") return chunkwise::run_calibrate(argc - 1, argv + 1);
    return run(argc, argv);
  });
}
